package core

import (
	"time"

	"posta.dev/posta/internal/histogram"
	"posta.dev/posta/link"
)

// roundTrip measures how long a frame of an outbox takes, from when it is first sent until the last receiver has acknowledged it. By then
// its effect is durable there. One frame of an outbox is timed at a time. Rejected: to time every frame, because it needs a field in each
// entry and gives the same picture.
type roundTrip struct {
	frame link.Seq // the frame that is timed; zero if none is
	since time.Time
}

// begin times the last of the frames that are sent now, if none is timed.
func (r *roundTrip) begin(frames []link.Frame, now time.Time) {
	if n := len(frames); n > 0 && r.frame == 0 {
		r.frame, r.since = frames[n-1].Seq, now
	}
}

// end counts the timed frame if it is acknowledged.
func (r *roundTrip) end(acked link.Seq, now time.Time, count *histogram.Histogram) {
	if r.frame > 0 && acked >= r.frame {
		count.Observe(now.Sub(r.since))
		r.frame = 0
	}
}
