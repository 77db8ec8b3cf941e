package monitor

import (
	"slices"

	"posta.dev/posta/nodes/heartbeat"
)

// Sign is the condition of a node, as screens show it by shape, word and colour.
type Sign string

const (
	Fine    Sign = "fine"
	Care    Sign = "care"    // it works, and something is wrong with it
	Blocked Sign = "blocked" // it waits for a receiver
	Dead    Sign = "dead"    // silent, or with a damaged log
)

// Signs are all conditions, from the best to the worst.
var Signs = []Sign{Fine, Care, Blocked, Dead}

// Sign returns the condition of a node.
func (s *Status) Sign() Sign {
	full := slices.ContainsFunc(s.Beat.Links, func(l heartbeat.Link) bool { return l.Full })
	switch {
	case s.Silent() || s.Beat.State == heartbeat.Damaged:
		return Dead
	case full || s.Beat.State == heartbeat.Blocked:
		return Blocked
	case s.Beat.State != heartbeat.Running || s.Busy() || s.Beat.Trouble != "":
		return Care
	}
	return Fine
}

// Worse returns the worse of two conditions.
func (s Sign) Worse(than Sign) Sign {
	return Signs[max(slices.Index(Signs, s), slices.Index(Signs, than))]
}
