package display

import (
	"time"

	"posta.dev/posta/client"
)

// streamState is what Progress remembers of a stream between two updates.
type streamState struct {
	rate  rate
	begun time.Time
	took  time.Duration // no longer grows when the stream has ended
	over  bool
	told  bool // whether its end was written
}

// streamView is what is shown of a stream.
type streamView struct {
	client.StreamProgress
	perSecond float64
	state     *streamState // nil before its first byte
}

// view measures one stream. A finished stream has its mean speed.
func (t *streamState) view(s client.StreamProgress, now time.Time) streamView {
	v := streamView{StreamProgress: s, state: t}
	if !t.over {
		t.took, t.over = now.Sub(t.begun), s.Ended
		v.perSecond = t.rate.add(now, s.Read)
	}
	if t.over && t.took > 0 {
		v.perSecond = float64(s.Read) / t.took.Seconds()
	}
	return v
}
