package output

import (
	"cmp"
	"slices"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// recent is how many closed sessions heartbeats still mention, for an input that was away when they ended.
const recent = 64

// Ended implements role.EndReporter.
func (o *Output) Ended(limit int) []role.Ended {
	var all []role.Ended
	for _, r := range o.results {
		if r.over {
			all = append(all, role.Ended{ID: r.id, Opener: r.opener, Failed: r.why.Failed(), Code: r.why.Code, Reason: r.why.Reason})
		}
	}
	for _, id := range o.Tombstones.Recent(recent) {
		w, _ := o.Tombstones.Get(id)
		failed := w.Failed() && w.Code != protocol.ErrExpired && w.Code != protocol.ErrClosed
		all = append(all, role.Ended{ID: id, Opener: w.Opener, Failed: failed, Code: w.Code, Reason: w.Reason})
	}
	slices.SortFunc(all, func(a, b role.Ended) int { return slices.Compare(a.ID[:], b.ID[:]) })
	if limit == 0 {
		return all
	}
	return o.next(all, limit)
}

// next returns what one heartbeat has room for: what was never told, then what was told longest ago.
func (o *Output) next(all []role.Ended, limit int) []role.Ended {
	slices.SortStableFunc(all, func(a, b role.Ended) int { return cmp.Compare(o.told[a.ID], o.told[b.ID]) })
	o.beats++
	told, n := make(map[session.ID]uint64, len(all)), 0
	for i, e := range all {
		told[e.ID] = o.told[e.ID]
		if limit -= 64 + len(e.Code) + len(e.Reason); limit >= 0 || i == 0 {
			told[e.ID], n = o.beats, i+1
		}
	}
	o.told = told
	return all[:n]
}
