package core

import (
	"slices"

	"posta.dev/posta/link"
)

// departed is what a node keeps of links that its topology no longer has. Such a link may come back, with the same logs at both ends. Its
// sender must then not give out its numbers again (R2), and its receiver must not take a frame again (R4). Otherwise each side would
// conclude that the other's log was set back, and a node would retire a good log (R14). Snapshots contain departed.
//
// Frames that a departed receiver had not acknowledged are given up: their sessions belong to another wiring, and fail here and in all
// nodes that have heard of them (R12, see failDeparted). One more number is used up. So a receiver that comes back always finds that frames
// are missing, and fails the sessions that still wait for them (R8).
type departed struct {
	out []link.Progress // given up, so nothing in them is acknowledged; in the order in which they left
	in  []link.Hwm
}

// maxDeparted bounds how many links are remembered in each direction. If a link comes back after more than that have left, a log is
// retired, but no answer becomes wrong.
const maxDeparted = 1024

// left notes what a record or a snapshot says of an outbox that the topology does not have.
func (d *departed) left(p link.Progress) {
	if len(p.Acked) > 0 {
		p = link.Progress{Edge: p.Edge, To: p.To, Last: givenUp(p.Last)}
	}
	d.out = replaced(d.out, p, func(q link.Progress) bool { return q.Edge == p.Edge && q.To == p.To })
}

// heard notes the hwm of a link that the topology does not have.
func (d *departed) heard(h link.Hwm) {
	d.in = replaced(d.in, h, func(g link.Hwm) bool { return g.Edge == h.Edge && g.From == h.From })
}

func replaced[T any](all []T, x T, same func(T) bool) []T {
	all = append(slices.DeleteFunc(all, same), x)
	return all[max(0, len(all)-maxDeparted):]
}

// givenUp returns the number up to which an outbox is given up; last is the last number that the outbox has given out.
func givenUp(last link.Seq) link.Seq {
	if last == 0 {
		return 0
	}
	return last + 1
}
