package output

import (
	"cmp"
	"slices"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// recent is how many closed sessions heartbeats still report, for an input that was down when they ended.
const recent = 64

// Ended implements role.EndReporter.
func (o *Output) Ended(limit int) []role.Ended {
	var all []role.Ended
	for _, r := range o.results {
		if r.over {
			all = append(all, r.told())
		}
	}
	for _, id := range o.Tombstones.Recent(recent) {
		all = append(all, o.closed(id))
	}
	for _, id := range o.refused.Keys() {
		e, _ := o.refused.Get(id)
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b role.Ended) int { return slices.Compare(a.ID[:], b.ID[:]) })
	return o.next(all, limit)
}

// EndOf implements role.EndReporter.
func (o *Output) EndOf(ids []session.ID) (all []role.Ended) {
	last := o.Tombstones.Recent(recent)
	for _, id := range ids {
		if r := o.results[id]; r != nil && r.over {
			all = append(all, r.told())
		}
		if slices.Contains(last, id) {
			all = append(all, o.closed(id))
		}
		if e, ok := o.refused.Get(id); ok {
			all = append(all, e)
		}
	}
	return all
}

func (r *result) told() role.Ended {
	return role.Ended{ID: r.id, Opener: r.Openers.Founder(), Owner: r.Owner, Failed: r.why.Failed(), Code: r.why.Code, Reason: r.why.Reason,
		Fields: r.why.Fields}
}

// closed returns what heartbeats report about a session whose answer is gone.
func (o *Output) closed(id session.ID) role.Ended {
	w, _ := o.Tombstones.Get(id)
	failed := w.Failed() && w.Code != protocol.ErrExpired && w.Code != protocol.ErrClosed
	return role.Ended{ID: id, Opener: w.Openers.Founder(), Owner: w.Owner, Failed: failed, Code: w.Code, Reason: w.Reason,
		Fields: w.Fields}
}

// next returns the sessions that one heartbeat has room for: first those that were never reported, then those that were reported longest
// ago.
func (o *Output) next(all []role.Ended, limit int) []role.Ended {
	slices.SortStableFunc(all, func(a, b role.Ended) int { return cmp.Compare(o.told[a.ID], o.told[b.ID]) })
	o.beats++
	told, n := make(map[session.ID]uint64, len(all)), 0
	for i, e := range all {
		told[e.ID] = o.told[e.ID]
		if limit -= 64 + len(e.Owner) + len(e.Code) + len(e.Reason) + e.Fields.Size(); limit >= 0 || i == 0 {
			told[e.ID], n = o.beats, i+1
		}
	}
	o.told = told
	return all[:n]
}
