package link

import "slices"

// supersededLogs remembers the logs of a peer that another log has replaced. Whatever they still send is a zombie's (R8), and is answered by
// saying so (R14): if the log is a living node's after all, that node retires it and comes with a new one.
//
// That happens when a directory is restored that is older than a retirement. It also happens because log ids have no order: a late message
// of an older log that was never heard before looks like a new one, and the peer's present log is taken for the lost one. Being wrong
// costs sessions, never their answers. Rejected: to believe a log again that goes on speaking while its successor is silent. It is one
// more way for a log to come back that was set back.
type supersededLogs struct {
	logs []LogID // at most maxSuperseded, the latest last
}

const maxSuperseded = 8

func (r *supersededLogs) add(l LogID) {
	r.logs = append(r.logs, l)
	if len(r.logs) > maxSuperseded {
		r.logs = slices.Delete(r.logs, 0, 1)
	}
}

// has reports whether l was replaced.
func (r *supersededLogs) has(l LogID) bool { return slices.Contains(r.logs, l) }
