package protocol

import (
	"math"

	"posta.dev/posta/protocol/session"
)

// DecodeReply reads a reply. The rows of its parts are views into frame; everything else is copied. Keys it does not know
// are ignored.
func DecodeReply(frame []byte) (Reply, error) {
	var p Reply
	d := newDecoder(frame)
	spoken := false
	d.fields(func(key []byte) {
		if string(key) == "v" {
			spoken = true
			d.version()
			return
		}
		if !p.field(&d, key) && !p.listField(&d, key) && !p.errorField(&d, key) {
			d.Skip(maxDepth)
		}
	})
	if !spoken {
		d.fail(`no "v" (the version of the protocol, %d)`, Version)
	}
	p.check(&d)
	return p, d.done()
}

func (p *Reply) check(d *decoder) {
	switch p.Type {
	case OK, Opened, Parts, Listed, About:
	case Refused:
		if p.Err.Code == "" {
			d.fail("an error reply without code")
		}
	default:
		d.fail("a reply of type %.40q", p.Type)
	}
}

func (p *Reply) field(d *decoder, key []byte) bool {
	switch string(key) {
	case "type":
		p.Type = Answer(d.text("type", MaxName))
	case "lane":
		p.Lane = uint32(d.below("lane", MaxLanes))
	case "seq":
		p.Seq = d.Uint()
	case "state":
		p.State = session.State(d.text("state", MaxName))
	case "reason":
		p.Reason = d.text("reason", MaxText)
	case "chunk":
		p.Chunk = int(d.below("chunk", math.MaxInt32))
	case "client_timeout_ms":
		p.ClientTimeout = d.millis(MaxTimes)
	case "done":
		p.Complete = d.Bool()
	case "cluster":
		p.Cluster = d.text("cluster", MaxName)
	case "node":
		p.Node = d.text("node", MaxName)
	case "version":
		p.Version = d.text("version", MaxName)
	default:
		return false
	}
	return true
}

func (p *Reply) listField(d *decoder, key []byte) bool {
	switch string(key) {
	case "inputs":
		p.Inputs = d.texts("inputs", MaxNodes, MaxName)
	case "outputs":
		p.Outputs = d.texts("outputs", MaxNodes, MaxName)
	case "streams":
		p.Streams = d.streams()
	case "queries":
		p.Queries = d.texts("queries", MaxStreams, MaxName)
	case "lanes":
		p.Lanes = d.lanes()
	case "ended":
		p.Ended = d.texts("ended streams", MaxStreams, MaxName)
	case "parts":
		d.list("parts", MaxParts, func() { p.Parts = append(p.Parts, d.part()) })
	case "sessions":
		d.list("sessions", MaxListed, func() { p.Sessions = append(p.Sessions, d.sessionInfo()) })
	case "analyses":
		d.list("analyses", MaxListed, func() { p.Analyses = append(p.Analyses, d.analysis()) })
	default:
		return false
	}
	return true
}

func (p *Reply) errorField(d *decoder, key []byte) bool {
	switch string(key) {
	case "code":
		p.Err.Code = Code(d.text("code", MaxName))
	case "message":
		p.Err.Message = d.text("message", MaxText)
	case "retry_after_ms":
		p.Err.RetryAfter = d.millis(MaxTimes)
	case "want":
		p.Err.Want = d.Uint()
	default:
		return false
	}
	return true
}
