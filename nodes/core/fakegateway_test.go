package core

import (
	"strings"
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// Request implements role.Gateway. The answer is what the gateway did, and it leaves once that is durable.
func (d *fakeGateway) Request(_ time.Time, r *role.Request) bool {
	f := strings.Fields(string(r.Body))
	if len(f) < 2 {
		return false
	}
	id := sessionOf(f[0])
	d.log = append(d.log, strings.Join(f, "-"))
	d.host.Record([]byte(strings.Join(f, "-")))
	var err error
	switch f[1] {
	case "open":
		payload := role.Announcement{Analysis: "test"}.Encode()
		s, _ := role.ReadAnnouncement(id, payload, known, d.host.(*host).c.cfg.Replica)
		err = d.host.Open(s, payload)
	case "feed":
		err = d.host.Feed(id, role.Message{Stream: 1, Payload: []byte(f[2])})
	case "end":
		d.host.EndStream(id, int(f[2][0]-'0'))
	case "abort":
		d.host.Abort(id, role.Outcome{Reason: "the client says so"})
	}
	answer := "did " + strings.Join(f, " ")
	if err != nil {
		answer += ": " + err.Error()
	}
	d.host.ReplyStored(r.From, []byte(answer))
	return true
}

// Tick implements role.Gateway.
func (d *fakeGateway) Tick(time.Time) { d.ticks++ }

// Heartbeat implements role.HeartbeatListener: it only notes the call.
func (d *fakeGateway) Heartbeat(_ time.Time, h role.Heard) {
	if h.From == "me-1" {
		return // its own heartbeat
	}
	d.host.Record([]byte("heard-" + string(h.From)))
}

// Awaits implements role.HeartbeatListener.
func (d *fakeGateway) Awaits() []session.ID { return d.awaits }

// Ended and EndOf implement role.EndReporter.
func (d *fakeGateway) Ended(int) []role.Ended { d.listed++; return nil }

func (d *fakeGateway) EndOf(ids []session.ID) []role.Ended {
	d.asked = append(d.asked, ids...)
	return nil
}
