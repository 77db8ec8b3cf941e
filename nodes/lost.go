package nodes

import (
	"errors"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/postmortem"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/protocol/session"
)

// lost returns the sessions that ended former processes of this node: the one that the last process hung on, and those that were open when the node
// died by its own fault several times in a row. The other sessions keep their count. A damaged note is logged, and the node starts anyway.
func (x *node) lost(a *core.LogAnalysis) (all []shell.Loss) {
	dir, name := x.node.DataDir, string(x.node.ID)
	give := func(id, reason string) {
		s, err := session.Parse(id)
		if err != nil {
			x.cfg.Log.Warn("a note of an earlier process of this node names no session", "dir", dir, "session", id, "err", err)
			return
		}
		x.cfg.Log.Warn("a session that killed this node or made it hang fails", "session", id, "reason", reason)
		all = append(all, shell.Loss{Session: s, Reason: reason})
	}
	hung, isHung, err := postmortem.ReadHung(dir)
	if isHung {
		give(hung.Session, hung.Reason(name))
	}
	deaths, readErr := postmortem.ReadDeaths(dir)
	died, isDied, diedErr := postmortem.ReadDied(dir)
	if err = errors.Join(err, readErr, diedErr); err != nil {
		x.cfg.Log.Warn("a note of an earlier process of this node cannot be read: remove it", "err", err)
	}
	if !isDied {
		return all
	}
	open, err := x.openSessions(a)
	if err == nil {
		deaths = deaths.After(died, open)
		err = postmortem.WriteDeaths(dir, deaths)
	}
	if err = errors.Join(err, postmortem.RemoveDied(dir)); err != nil {
		x.cfg.Log.Warn("the last death of this node could not be counted", "err", err)
	}
	for _, id := range deaths.Over() {
		give(id, deaths.Reason(name))
	}
	return all
}

// openSessions returns the sessions that were open when the last process of the node ended.
func (x *node) openSessions(a *core.LogAnalysis) (open []string, err error) {
	at, snapshot, _, err := x.log.LoadSnapshot()
	if err != nil {
		return nil, err
	}
	ids, err := a.Open(snapshot, link.LogIndex(at))
	for _, id := range ids {
		open = append(open, id.String())
	}
	return open, err
}
