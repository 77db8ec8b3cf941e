package core

import (
	"slices"

	"posta.dev/posta/link"
)

// departed is what a node keeps of links that its topology does not have any more. A link that comes back, with the logs at both ends that it
// had, must not give its numbers out again (R2), and must not take for new what it has taken (R4). Each side would hold the other for a
// log that was set back, and the node would retire a good log (R14). It is kept in snapshots.
//
// Frames that a departed receiver had not acknowledged are given up: their sessions belong to another wiring, and fail, here and in all who have
// heard of them (R12, see failDeparted). One number more is
// used up, so that a receiver which comes back always finds that frames are missing, and fails what still waits for them (R8).
type departed struct {
	out []link.Progress // given up: without anything acknowledged; the one that left last is the last
	in  []link.Hwm
}

// maxDeparted bounds how many links are remembered in each direction. One that comes back after more have left costs a log its life, and no
// session its right answer.
const maxDeparted = 1024

// left notes what a record or a snapshot says of an outbox that the topology does not have.
func (d *departed) left(p link.Progress) {
	if len(p.Acked) > 0 {
		p = link.Progress{Edge: p.Edge, To: p.To, Last: givenUp(p.Last)}
	}
	d.out = replaced(d.out, p, func(q link.Progress) bool { return q.Edge == p.Edge && q.To == p.To })
}

// heard notes how far a link had got that the topology does not have.
func (d *departed) heard(h link.Hwm) {
	d.in = replaced(d.in, h, func(g link.Hwm) bool { return g.Edge == h.Edge && g.From == h.From })
}

func replaced[T any](all []T, x T, same func(T) bool) []T {
	all = append(slices.DeleteFunc(all, same), x)
	return all[max(0, len(all)-maxDeparted):]
}

// givenUp is the number up to which an outbox is given up that has given out last.
func givenUp(last link.Seq) link.Seq {
	if last == 0 {
		return 0
	}
	return last + 1
}
