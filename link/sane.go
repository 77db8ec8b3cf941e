package link

// Incarnations count starts. So a real one never grows by more than maxStep between two messages: that is twelve days with one start each
// second and no message. The first incarnation heard of a log may be any number up to maxFirst: 136 years with one start each second. A
// larger jump is not believed (M10). If it were, every lower incarnation would be a zombie (R8), and the link would stop for good.
const (
	maxStep  = 1 << 20
	maxFirst = 1 << 32
)

// Reaches reports whether next, the identity in a node's latest message, can follow i, the one heard before (zero if none).
func (i Identity) Reaches(next Identity) bool {
	if i.LogID != next.LogID {
		return next.Incarnation <= maxFirst
	}
	return next.Incarnation <= i.Incarnation || next.Incarnation-i.Incarnation <= maxStep
}

// Peer returns the last identity heard of a receiver; zero if it was never heard.
func (s *Sender) Peer(node NodeID) Identity {
	if p := s.peer(node); p != nil {
		return p.id
	}
	return Identity{}
}
