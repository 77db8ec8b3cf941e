package link

import "slices"

// retired remembers the logs of a peer that were replaced by another. What still comes from them is a zombie's (R8).
//
// Log ids have no order, so a late word of a log that was never heard before looks like a lost disk, and the log that
// lives is then taken for the one that was lost. It would be ignored for ever; therefore a log that goes on speaking while
// its successor is silent is believed again. Being wrong in between costs sessions, never their answers.
type retired struct {
	logs   []LogID // the last few
	knocks int     // from one of them since the present log was heard
}

const (
	maxRetired = 8
	believed   = 3 // knocks; the late words of a dead process are rarely so many
)

func (r *retired) add(l LogID) {
	r.logs = append(r.logs, l)
	if len(r.logs) > maxRetired {
		r.logs = slices.Delete(r.logs, 0, 1)
	}
	r.knocks = 0
}

// has reports whether l was replaced, without believing it again.
func (r *retired) has(l LogID) bool { return slices.Contains(r.logs, l) }

// zombie reports whether what comes from l is to be ignored.
func (r *retired) zombie(l LogID) bool {
	i := slices.Index(r.logs, l)
	if i < 0 {
		return false
	}
	if r.knocks++; r.knocks < believed {
		return true
	}
	r.logs = slices.Delete(r.logs, i, i+1)
	return false
}

// heard says that the present log speaks.
func (r *retired) heard() { r.knocks = 0 }
