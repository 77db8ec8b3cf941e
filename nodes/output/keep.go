package output

import (
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/protocol"
)

// makeRoom keeps finished answers within limits.results and limits.results_size (R16). Those go first that were finished, or asked for, longest
// ago. A client that reads its answer has just asked for it; so the one that was finished last stays, however large it is.
//
// Answers under way do not count. They cannot go, and if they counted, answers that no client has read yet would go for sessions that may still
// fail. limits.sessions bounds how many there are.
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
			return fmt.Sprintf("had to go for newer ones (limits.results = %d)", l.Results)
		case l.ResultsSize > 0 && size > uint64(l.ResultsSize):
			return fmt.Sprintf("had to go for newer ones (limits.results_size = %s)", l.ResultsSize)
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

// used is when an answer was finished or last asked for.
func (r *result) used() time.Time {
	if r.asked.After(r.finished) {
		return r.asked
	}
	return r.finished
}

// giveUp drops an answer that is not closed. Why a session failed costs little, and is remembered on.
func (o *Output) giveUp(r *result, how string) {
	why := r.why
	if !why.Failed() {
		why = gateway.Outcome{Code: protocol.ErrExpired, Reason: fmt.Sprintf("the results of session %s %s and are gone: run the analysis again", r.id, how)}
	}
	o.remove(r, why)
}

// storeAges records how old kept answers are, so that limits.results_ttl counts over restarts. It does so for answers that stay: most are
// closed within seconds, and cost nothing here. In one boot of the machine once is enough; a boot loses what has passed since the last time.
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

// firstAge is the age at which an answer's age is recorded for the first time.
const firstAge = 10 * time.Second
