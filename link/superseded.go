package link

import "slices"

// supersededLogs remembers the logs of a peer that another log has replaced. Whatever they still send is a zombie's (R8).
//
// Log ids have no order. So a late message of an older log that was never heard before looks like a new one, and the peer's present log is
// taken for the lost one. It would then be ignored for ever. Therefore a superseded log is accepted again when it goes on sending while its
// successor is silent. Being wrong in between costs sessions, never their answers.
type supersededLogs struct {
	logs    []LogID // at most maxSuperseded, the latest last
	repeats int     // messages from these logs since the present log was heard
}

const (
	maxSuperseded = 8
	believeAfter  = 3 // repeats; a dead process rarely leaves so many late messages
)

func (r *supersededLogs) add(l LogID) {
	r.logs = append(r.logs, l)
	if len(r.logs) > maxSuperseded {
		r.logs = slices.Delete(r.logs, 0, 1)
	}
	r.repeats = 0
}

// has reports whether l was replaced. It never accepts l again.
func (r *supersededLogs) has(l LogID) bool { return slices.Contains(r.logs, l) }

// zombie reports whether a message from l is to be ignored, and counts it.
func (r *supersededLogs) zombie(l LogID) bool {
	i := slices.Index(r.logs, l)
	if i < 0 {
		return false
	}
	if r.repeats++; r.repeats < believeAfter {
		return true
	}
	r.logs = slices.Delete(r.logs, i, i+1)
	return false
}

// heard notes a message of the present log.
func (r *supersededLogs) heard() { r.repeats = 0 }
