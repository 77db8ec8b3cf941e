package output

import (
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/topology"
)

// makeRoom keeps finished answers within limits.results and limits.results_size, and those of each owner within limits.client_share of them
// (R16). The answer goes that was finished, or last asked for, longest ago. So an answer that a client is reading stays. An owner beyond
// its share loses one of its own. If all owners are within their shares and the sum is too large, the owner that keeps most loses one:
// otherwise one client with many small answers would replace all others'. The last answer of an owner goes only for the sum. An answer that
// alone exceeds limits.results_size has failed before it was finished.
//
// Unfinished answers do not count. They cannot be dropped. If they counted, makeRoom would drop answers that no client has read yet in
// favour of sessions that may still fail. limits.sessions bounds the number of unfinished answers.
func (o *Output) makeRoom() {
	number, size := 0, uint64(0)
	for _, r := range o.results {
		if r.over {
			number, size = number+1, size+r.size
		}
	}
	const anyone = "?" // no client has this name, and all have the same share
	if l := o.About.Limits; !above(uint64(number), int64(l.Results), l, anyone) && !above(size, int64(l.ResultsSize), l, anyone) {
		return // the common case: one owner could have all of it
	}
	k := kept{limits: o.About.Limits, number: role.Tally{}, size: role.Tally{}}
	for _, r := range o.results {
		if r.over {
			k.answers = append(k.answers, r)
			k.number[r.Owner]++
			k.size[r.Owner] += r.size
		}
	}
	slices.SortFunc(k.answers, func(a, b *result) int {
		if c := a.used().Compare(b.used()); c != 0 {
			return c
		}
		return slices.Compare(a.id[:], b.id[:])
	})
	for {
		i, how := k.excess()
		if how == "" {
			return
		}
		r := k.answers[i]
		k.answers = slices.Delete(k.answers, i, i+1)
		k.number[r.Owner]--
		k.size[r.Owner] -= r.size
		o.giveUp(r, how)
	}
}

// kept is what makeRoom chooses from.
type kept struct {
	limits       topology.Limits
	answers      []*result // the one that was used longest ago is first
	number, size role.Tally
}

// excess returns the index of the answer that has to go, and why; the reason is empty if none has to.
func (k *kept) excess() (i int, how string) {
	l := k.limits
	for i, r := range k.answers {
		switch n := k.number[r.Owner]; {
		case n < 2:
		case above(n, int64(l.Results), l, r.Owner):
			return i, fmt.Sprintf("made room for newer ones of the same client (limits.client_share = %d %% of limits.results = %d)", l.ClientShare,
				l.Results)
		case above(k.size[r.Owner], int64(l.ResultsSize), l, r.Owner):
			return i, fmt.Sprintf("made room for newer ones of the same client (limits.client_share = %d %% of limits.results_size = %s)",
				l.ClientShare, l.ResultsSize)
		}
	}
	var most string
	size := uint64(0)
	for _, n := range k.size {
		size += n
	}
	switch {
	case len(k.answers) < 2:
		return 0, ""
	case above(uint64(len(k.answers)), int64(l.Results), l, ""):
		most, how = k.number.Most(), fmt.Sprintf("made room for newer ones (limits.results = %d)", l.Results)
	case above(size, int64(l.ResultsSize), l, ""):
		most, how = k.size.Most(), fmt.Sprintf("made room for newer ones (limits.results_size = %s)", l.ResultsSize)
	}
	return slices.IndexFunc(k.answers, func(r *result) bool { return r.Owner == most }), how
}

// above reports whether an owner has more than its part of a limit; an owner without a name has all of it. A limit of 0 is none.
func above(n uint64, limit int64, l topology.Limits, owner string) bool {
	return limit > 0 && n > uint64(l.PartOf(limit, owner))
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
		why = gateway.Outcome{Code: protocol.ErrExpired, Reason: fmt.Sprintf("the results of session %s %s and are gone: run the analysis again",
			r.id, how)}
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
