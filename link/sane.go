package link

// Incarnations count starts, so a real one never grows by maxStep between two messages: that is twelve days of a start each second without
// a word. Of a log that was never heard before any number up to maxFirst may be the first one: 136 years of a start each second. Whatever
// jumps by more is not believed (M10): what is believed makes all that is lower a zombie's (R8), and the link would stop for good.
const (
	maxStep  = 1 << 20
	maxFirst = 1 << 32
)

// Reaches reports whether the next identity that a node says can follow this one, which is zero if none was heard before.
func (i Identity) Reaches(next Identity) bool {
	if i.LogID != next.LogID {
		return next.Incarnation <= maxFirst
	}
	return next.Incarnation <= i.Incarnation || next.Incarnation-i.Incarnation <= maxStep
}

// Peer returns the identity of a receiver that was heard last, zero if it was never heard.
func (s *Sender) Peer(node NodeID) Identity {
	if p := s.peer(node); p != nil {
		return p.id
	}
	return Identity{}
}
