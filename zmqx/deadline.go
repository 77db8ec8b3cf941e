package zmqx

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// progress is how many bytes must arrive within the stall time. A byte now and then must not count, because it would keep
// half a frame alive for ever (slowloris).
const progress = 4 << 10

// readDeadline bounds how long a connection may take. Between messages a peer may be silent for as long as it likes, unless
// silence is set. Within a message it must make progress. The time that a message waits for our own receiver does not count:
// renew is called when reading resumes. A nil readDeadline sets none. The reader's goroutine owns it.
type readDeadline struct {
	conn interface{ SetReadDeadline(time.Time) error }
	// bytes are counted beneath TLS (cameBeneath): a record arrives as a whole, and may be as long as four times progress
	beneath bool
	stall   time.Duration // for progress bytes within a message
	silence time.Duration // between messages; 0: for ever

	idle  bool // the deadline on conn is that of silence
	armed bool // the deadline on conn is that of stall
	due   bool // the next read within a message sets a new one
	got   int  // bytes since it was set
}

func (d *readDeadline) renew() {
	if d != nil {
		d.due = true
	}
}

func (d *readDeadline) beforeRead(mid bool) error {
	switch {
	case d == nil:
		return nil
	case !mid && d.silence > 0: // the kernel is told with each read, of which a publisher that speaks regularly causes few
		d.armed, d.idle = false, true
		return d.conn.SetReadDeadline(time.Now().Add(d.silence))
	case !mid && d.armed:
		d.armed = false
		return d.conn.SetReadDeadline(time.Time{})
	case mid && (d.due || !d.armed):
		d.armed, d.due, d.got, d.idle = true, false, 0, false
		return d.conn.SetReadDeadline(time.Now().Add(d.stall))
	}
	return nil
}

// afterRead counts n bytes and says what an expired deadline means.
func (d *readDeadline) afterRead(n int, err error) error {
	if d == nil {
		return err
	}
	if !d.beneath {
		d.got += n
		d.due = d.due || d.got >= progress
	}
	switch {
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return err
	case d.idle:
		return fmt.Errorf("%w: nothing in %v (MaxSilence)", ErrSilent, d.silence)
	}
	return fmt.Errorf("%w: less than %d bytes in %v (ReadStall)", errStalled, progress, d.stall)
}

// cameBeneath counts bytes that have come while the frameReader waits for a record. TLS may need several reads for one, so a new deadline
// is set here.
func (d *readDeadline) cameBeneath(n int) {
	if d == nil {
		return
	}
	if d.got += n; d.armed && d.got >= progress {
		d.got = 0
		_ = d.conn.SetReadDeadline(time.Now().Add(d.stall)) // if the connection is gone, the next read reports it
	}
}
