package output

import (
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/protocol"
)

// makeRoom keeps finished answers within limits.results and limits.results_size (R16). It first drops the answers that were finished, or last asked
// for, longest ago. So an answer that a client is reading stays. An answer that alone exceeds limits.results_size has failed before it was finished.
//
// Unfinished answers do not count. They cannot be dropped. If they counted, makeRoom would drop answers that no client has read yet in favour of
// sessions that may still fail. limits.sessions bounds the number of unfinished answers.
func (o *Output) makeRoom() {
	l := o.About.Limits
	number, size := 0, uint64(0)
	for _, r := range o.results {
		if r.over {
			number, size = number+1, size+r.size
		}
	}
	full := func() string {
		switch {
		case l.Results > 0 && number > l.Results:
			return fmt.Sprintf("made room for newer ones (limits.results = %d)", l.Results)
		case l.ResultsSize > 0 && size > uint64(l.ResultsSize):
			return fmt.Sprintf("made room for newer ones (limits.results_size = %s)", l.ResultsSize)
		}
		return ""
	}
	if full() == "" {
		return
	}
	var over []*result
	for _, r := range o.results {
		if r.over {
			over = append(over, r)
		}
	}
	slices.SortFunc(over, func(a, b *result) int {
		if c := a.used().Compare(b.used()); c != 0 {
			return c
		}
		return slices.Compare(a.id[:], b.id[:])
	})
	for how := full(); how != "" && len(over) > 1; how, over = full(), over[1:] {
		o.giveUp(over[0], how)
		number, size = number-1, size-over[0].size
	}
}

// used returns when an answer was finished or last asked for, whichever is later.
func (r *result) used() time.Time {
	if r.asked.After(r.finished) {
		return r.asked
	}
	return r.finished
}

// giveUp drops an answer that its client has not closed. The reason of a failed session is still remembered: it costs little.
func (o *Output) giveUp(r *result, how string) {
	why := r.why
	if !why.Failed() {
		why = gateway.Outcome{Code: protocol.ErrExpired, Reason: fmt.Sprintf("the results of session %s %s and are gone: run the analysis again", r.id, how)}
	}
	o.remove(r, why)
}

// storeAges records the ages of kept answers, so that limits.results_ttl counts across restarts. An answer's first
// record waits until firstAge, as most answers are closed within seconds. A restart of the process loses no time after
// one record. A reboot of the machine loses the time since the last record.
func (o *Output) storeAges() {
	every := o.About.Limits.ResultsTTL / 8
	var old []*result
	for _, r := range o.results {
		due := r.stored.Age + every
		if r.stored == (gateway.Age{}) {
			due = min(every, firstAge)
		}
		if r.over && o.now.Sub(r.finished) >= due {
			old = append(old, r)
		}
	}
	if len(old) == 0 {
		return
	}
	slices.SortFunc(old, func(a, b *result) int { return slices.Compare(a.id[:], b.id[:]) })
	for _, r := range old {
		r.stored = o.About.Uptime.Store(o.now, o.now.Sub(r.finished))
	}
	o.Host.Record(encodeAges(old))
}

// firstAge is how old an answer is when its age is first recorded.
const firstAge = 10 * time.Second
