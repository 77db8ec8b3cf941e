package bench

import (
	"fmt"
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// sink is the role at the receiving end of the measured link. It counts frames. It answers a request for a number of
// frames when the commit with the last of them is on disk.
type sink struct {
	stubRole
	frames int
	waiter role.Peer
	until  int // answer at this many frames; 0: no request waits
}

func encodeWait(frames int) []byte { return fmt.Appendf(nil, "wait for %d frames", frames) }

// Request implements role.Gateway.
func (s *sink) Request(_ time.Time, r *role.Request) bool {
	var until int
	if _, err := fmt.Sscanf(string(r.Body), "wait for %d frames", &until); err != nil || until < 1 {
		s.host.Reply(r.From, fmt.Appendf(nil, "%q is not an order for a sink", r.Body))
		return true
	}
	s.waiter, s.until = r.From, until
	s.answerWaiter()
	return true
}

// Take implements role.Role.
func (s *sink) Take(session.ID, role.Message, role.Emitter) (bool, error) {
	s.frames++
	s.answerWaiter()
	return false, nil
}

func (s *sink) answerWaiter() {
	if s.until > 0 && s.frames >= s.until {
		s.until = 0
		s.host.ReplyStored(s.waiter, []byte("ok"))
	}
}
