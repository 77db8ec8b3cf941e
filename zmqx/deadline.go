package zmqx

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// progress is what must arrive within the stall time to count: a byte now and then would keep half a frame alive for
// ever (slowloris).
const progress = 4 << 10

// patience watches over a message that has begun: between messages a peer may be silent for as long as it likes, unless its owner
// set a limit; within one it must move on. The time a message waits for a receiver on our side does not count: renew is called when reading
// starts again. A nil patience waits for ever.
type patience struct {
	conn    interface{ SetReadDeadline(time.Time) error }
	stall   time.Duration
	silence time.Duration // between messages; 0: for ever

	idle  bool // the deadline on conn is that of silence
	armed bool // a deadline is set on conn
	due   bool // the next read in mid-message sets a new one
	got   int  // bytes since it was set
}

func (p *patience) renew() {
	if p != nil {
		p.due = true
	}
}

func (p *patience) before(mid bool) error {
	switch {
	case p == nil:
		return nil
	case !mid && p.silence > 0: // the kernel is told with each read, of which a publisher that speaks regularly causes few
		p.armed, p.idle = false, true
		return p.conn.SetReadDeadline(time.Now().Add(p.silence))
	case !mid && p.armed:
		p.armed = false
		return p.conn.SetReadDeadline(time.Time{})
	case mid && (p.due || !p.armed):
		p.armed, p.due, p.got, p.idle = true, false, 0, false
		return p.conn.SetReadDeadline(time.Now().Add(p.stall))
	}
	return nil
}

func (p *patience) after(n int) {
	if p == nil {
		return
	}
	p.got += n
	p.due = p.due || p.got >= progress
}

func (p *patience) explain(err error) error {
	if p == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if p.idle {
		return fmt.Errorf("%w: nothing in %v (MaxSilence)", ErrSilent, p.silence)
	}
	return fmt.Errorf("%w: less than %d bytes in %v (ReadStall)", ErrStalled, progress, p.stall)
}
