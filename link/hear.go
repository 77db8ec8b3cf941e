package link

import "fmt"

// Hello takes a hello. self is this node's own log. It returns
//   - lost, if frames from this sender are gone for good (R8): the sender has another log than before, so it lost its disk with the frames
//     in flight; or it says that this node acknowledged frames that this disk does not hold;
//   - a reason, and changes nothing, if the hello shows that this node's own log was set back to a former state (R14).
//
// A floor counts as taken. It is acknowledged once the hwm is stored, like any other (R5).
func (r *Receiver) Hello(id Identity, h HelloPayload, self LogID) (lost bool, setBack string) {
	same := id.LogID == r.id.LogID
	if r.superseded.has(id.LogID) || same && id.over(r.id) {
		r.rejected = id
		return false, ""
	}
	if why := r.contradicts(same, &h, self); why != "" {
		return false, why
	}
	r.ackDue = true
	switch {
	case !same:
		if lost = r.id.LogID != (LogID{}); lost {
			r.superseded.add(r.id.LogID)
		}
		r.taken, r.takenLife, r.stored, r.storedLife = h.Floor, h.FloorLife, 0, 0
	case h.Floor > r.taken:
		lost = true
		r.taken, r.takenLife = h.Floor, h.FloorLife
	}
	r.id = id
	r.gap = h.Sent > r.taken
	return lost, ""
}

// contradicts returns why a hello shows that this node's log was set back (R14); "" if it does not. A log was set back if it has
// acknowledged frames that it does not hold. Acknowledgements of another log of this node fall under R8.
func (r *Receiver) contradicts(same bool, h *HelloPayload, self LogID) string {
	switch {
	case h.Log != self || h.Acked == 0:
		return ""
	case !same:
		return fmt.Sprintf("node %s says that frame %d of edge %s was acknowledged here, this node does not know its log", r.From, h.Acked,
			r.Edge)
	case h.Acked > r.stored:
		return fmt.Sprintf("node %s says that frame %d of edge %s was acknowledged here, this node has %d", r.From, h.Acked, r.Edge, r.stored)
	case h.Acked == r.stored && h.Life != 0 && r.storedLife != 0 && h.Life != r.storedLife:
		return fmt.Sprintf("node %s says that another frame %d of edge %s was acknowledged here than this node has", r.From, h.Acked, r.Edge)
	}
	return ""
}
