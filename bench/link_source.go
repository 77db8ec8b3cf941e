package bench

import (
	"fmt"
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// source is the role at the sending end of the measured link. A request says how many frames to send, and of which size.
// source sends them as fast as windows and commits allow. Everything below it, from the outbox to the disk and the socket, is
// the product's.
type source struct {
	stubRole
	pool    []byte
	at      int
	session session.ID
	left    int
	size    int
}

func newSource() *source { return &source{pool: newPool()} }

// order asks a source for frames.
type order struct{ frames, size int }

func (o order) encode() []byte {
	return fmt.Appendf(nil, "send %d frames of %d bytes", o.frames, o.size)
}

func decodeOrder(body []byte) (o order, err error) {
	_, err = fmt.Sscanf(string(body), "send %d frames of %d bytes", &o.frames, &o.size)
	if err == nil && (o.frames < 1 || o.size < 1 || o.size > piece) {
		err = fmt.Errorf("%q is out of range", body)
	}
	return o, err
}

// Request implements role.Gateway.
func (s *source) Request(_ time.Time, r *role.Request) bool {
	o, err := decodeOrder(r.Body)
	if err == nil && s.left > 0 {
		err = fmt.Errorf("%d frames of the last order are left", s.left)
	}
	if err == nil {
		err = s.begin(o)
	}
	answer := "ok"
	if err != nil {
		answer = err.Error()
	}
	s.host.Reply(r.From, []byte(answer))
	return true
}

func (s *source) begin(o order) error {
	id := session.New()
	payload := role.Announcement{Analysis: frameStream.Name}.Encode()
	x, err := role.ReadAnnouncement(id, payload, linkAnalyses, s.replica)
	if err == nil {
		err = s.host.Open(x, payload)
	}
	if err != nil {
		return err
	}
	s.session, s.left, s.size = id, o.frames, o.size
	return nil
}

// Tick implements role.Gateway.
func (s *source) Tick(time.Time) {
	for s.left > 0 && s.host.Room(s.session, false) {
		if s.at+s.size > len(s.pool) {
			s.at = 0
		}
		p := s.pool[s.at : s.at+s.size : s.at+s.size]
		s.at += s.size
		if err := s.host.Feed(s.session, role.Message{Payload: p}); err != nil {
			s.left = 0 // the session was aborted, and the sink's count would never be reached
			return
		}
		if s.left--; s.left == 0 {
			s.host.EndStream(s.session, 0)
		}
	}
}

// Running implements role.Gateway.
func (s *source) Running() int { return min(s.left, 1) }
