package nodes

import (
	"errors"
	"maps"
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/postmortem"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/protocol/session"
)

// lost returns the sessions that ended former processes of this node: the one that the last process hung on, those that were open when the
// node died by its own fault several times in a row, and one during whose work it died several times in a row, by whatever hand. The other
// sessions keep their count. A damaged note is logged, and the node starts anyway.
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
	working, isWorking, workingErr := postmortem.ReadWorking(dir)
	if err = errors.Join(err, readErr, diedErr, workingErr); err != nil {
		x.cfg.Log.Warn("a note of an earlier process of this node cannot be read: remove it", "err", err)
	}
	if !isDied && !isWorking {
		return all
	}
	open, err := x.openSessions(a)
	if err == nil {
		if isDied {
			deaths = deaths.After(died, open)
		}
		if id, bad := session.Parse(working.Session); isWorking && bad == nil {
			deaths = deaths.Tried(working, uint64(a.LastOf(id)))
		}
		deaths.Only(open)
		err = postmortem.WriteDeaths(dir, deaths)
	}
	if err = errors.Join(err, postmortem.RemoveDied(dir), postmortem.RemoveWorking(dir)); err != nil {
		x.cfg.Log.Warn("the last death of this node could not be counted", "err", err)
	}
	over := deaths.Over(name)
	for _, id := range slices.Sorted(maps.Keys(over)) {
		give(id, over[id])
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
