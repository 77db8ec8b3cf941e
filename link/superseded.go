package link

import "slices"

// supersededLogs remembers the logs of a peer that another log has replaced. All their messages are zombies (R8), and the answer says so
// (R14). If a live node uses such a log after all, that node retires the log and begins a new one.
//
// That happens when a directory is restored from before a retirement. It also happens because log ids have no order: a late message of an
// older log that was never heard before looks like a message of a new log, and the peer's present log is then considered lost. Such an
// error makes sessions fail, but never makes an answer wrong. Accepting a log again that keeps sending while its successor is silent was
// rejected: that would be another way for a log that was set back to return.
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
