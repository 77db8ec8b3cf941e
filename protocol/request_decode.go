package protocol

import (
	"posta.dev/posta/protocol/session"
)

// DecodeRequest reads a request. Header and Data are views into frame and live as long as it does; everything else is
// copied. The fields that the request's type needs are there and within the limits. Keys it does not know are ignored.
func DecodeRequest(frame []byte) (Request, error) {
	var q Request
	d := newDecoder(frame)
	spoken := false
	d.fields(func(key []byte) {
		if string(key) == "v" {
			spoken = true
			d.version()
			return
		}
		q.field(&d, key)
	})
	if !spoken {
		d.fail(`no "v" (the version of the protocol, %d)`, Version)
	}
	q.check(&d)
	return q, d.done()
}

func (q *Request) field(d *decoder, key []byte) {
	switch string(key) {
	case "type":
		q.Type = Ask(d.text("type", MaxName))
	case "session":
		q.Session = d.session()
	case "analysis":
		q.Analysis = d.text("analysis", MaxName)
	case "params":
		q.Params = d.params()
	case "stream":
		q.Stream = d.text("stream", MaxName)
	case "lane":
		q.Lane = uint32(d.below("lane", MaxLanes))
		d.laneSaid = true
	case "seq":
		q.Seq = d.Uint()
	case "file":
		q.File = d.text("file", MaxFile)
	case "line":
		q.Line = d.Uint()
	case "header":
		q.Header = d.view("header", MaxHeader)
	case "data":
		q.Data = d.view("data", MaxData)
	case "lanes":
		q.Lanes = d.lanes()
	case "after":
		q.After = d.Uint()
	case "wait_ms":
		q.Wait = d.millis(LongestPoll)
	case "lease_ms":
		q.Lease = d.millis(LongestHold)
	default:
		d.Skip(maxDepth)
	}
}

func (d *decoder) params() map[string]string {
	params := make(map[string]string)
	d.fields(func(key []byte) {
		if len(key) > MaxName || len(params) >= MaxParams {
			d.fail("parameter %.40q: names are at most %d bytes, and there are at most %d", key, MaxName, MaxParams)
			return
		}
		name := string(key)
		params[name] = d.text("parameter", MaxText)
	})
	return params
}

// check demands what the request's type needs.
func (q *Request) check(d *decoder) {
	switch q.Type {
	case Sessions, Info, Hold:
		return
	case Open:
		q.need(d, "analysis", q.Analysis != "")
	case Chunk:
		q.need(d, "stream", q.Stream != "")
		q.need(d, "lane", d.laneSaid)
		q.need(d, "seq (from 1)", q.Seq > 0)
		q.need(d, "file", q.File != "")
		q.need(d, "line (from 1)", q.Line > 0)
		q.need(d, "header", len(q.Header) > 0)
		q.need(d, "data", q.Data != nil) // a misspelt key must not lose rows
	case End:
		q.need(d, "stream", q.Stream != "")
	case Ping, Results, Cancel, Close:
	default:
		d.fail("a request of type %.40q; there is open, chunk, end, ping, results, cancel, close, sessions, info, hold", q.Type)
	}
	q.need(d, "session", q.Session != session.ID{})
}

func (q *Request) need(d *decoder, what string, there bool) {
	if !there {
		d.fail("a request of type %s without %s", q.Type, what)
	}
}
