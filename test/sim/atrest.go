package sim

import (
	"bytes"
	"fmt"
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// checkAtRest checks a cluster whose sessions have all ended: no node keeps anything, logs can be cut to nothing, and a node that starts
// from such a disk has the same state.
func (w *world) checkAtRest() {
	w.over = true
	for _, n := range w.order {
		w.count(n)
		n.checkTracesAtRest()
		if n.log.Last() == 0 {
			continue // nothing was stored, so there is nothing to take a snapshot of
		}
		n.disk.fill(false)
		before := n.core().Snapshot()
		if err := n.log.SaveSnapshot(n.log.Last(), before); err != nil {
			w.fail("N3: %s does not save a snapshot when nothing is under way: %v", n.id, err)
			return
		}
		if err := n.log.Cut(n.log.Last()); err != nil {
			w.fail("N3: %s does not cut its log when nothing is under way: %v", n.id, err)
			return
		}
		if kept := n.disk.holds(); kept > 0 {
			w.fail("N3: the log of %s keeps %d records when nothing is under way", n.id, kept)
			return
		}
		n.recoversTo(before)
	}
}

// recoversTo checks that a node that would be started from what is on its disk now would hold the state that it has in memory (N3).
func (n *node) recoversTo(state []byte) {
	d := n.disk.clone()
	r, err := n.recovered(d)
	if err == nil {
		err = r.err
	}
	switch {
	case err != nil:
		n.w.fail("%s: %s would not come back: %v", ruleOf(err), n.id, err)
	case r.shell.Core().Pending():
		n.w.fail("N3: %s would come back with something to store", n.id)
	default:
		if after := r.shell.Core().Snapshot(); !bytes.Equal(state, after) {
			n.w.fail("N3: %s would come back with another state\nhas   %q\nwould %q", n.id, state, after)
		}
		if commit := r.shell.Core().Seal(); commit != nil {
			n.w.fail("N3: %s would come back and store what it has stored before: %v", n.id, commit)
		}
		n.checkMemory(r.shell.Core())
		n.answersAs(&r)
	}
	d.close()
}

// answersAs checks, when the run is over, that a node that starts again gives clients the same answers about their sessions as now (N3).
// recoversTo cannot detect what a snapshot leaves out, because that is missing in both states that it compares.
func (n *node) answersAs(back *recovery) {
	ask := protocol.Results
	if n.stage().holds(topology.Input) && n.w.faults.owners != nil {
		ask = protocol.Ping
	}
	if !n.w.over || ask == protocol.Results && !n.stage().holds(topology.Output) {
		return
	}
	for _, c := range n.w.clients {
		q := protocol.Request{Type: ask, Session: c.id}
		for _, who := range n.w.asks() {
			now, then := n.answers(who, n.shell, n.log, &q), n.answers(who, back.shell, back.log, &q)
			if n.core().Retired() != "" {
				return // the run ended when the node was told that its log is superseded
			}
			if who.Role == security.Submit && c.rival == nil {
				n.w.checkHears(n, c, who, now, n.answers(role.LocalOperator, n.shell, n.log, &q))
			}
			if now != then {
				n.w.fail("%s: %s tells %s of session %s %q, and would tell %q if it came back", ruleOfAnswers(who), n.id, who, c.id, now, then)
			}
		}
	}
}

// answers returns a shell's answer to a request, without the parts that differ between incarnations.
func (n *node) answers(who security.Identity, s *shell.Shell, log openLog, q *protocol.Request) string {
	n.w.peer++
	s.Requests(n.now(), []role.Request{{From: n.w.peer, Client: who, Body: q.Append(nil)}})
	for now := n.now(); now.Sub(n.now()) < 2*time.Second; now = now.Add(500 * time.Millisecond) {
		o := s.Step(now)
		if o.Job != nil {
			s.Answer(now, shell.CarryOut(log, *o.Job))
		}
		for _, r := range o.Replies {
			if reply, err := protocol.DecodeReply(r.Body); err == nil && r.To == n.w.peer {
				return fmt.Sprintf("%s %s %s, %d parts", reply.Type, reply.State, reply.Err.Code, len(reply.Parts))
			}
		}
	}
	return "nothing"
}

func (w *world) count(n *node) {
	c := n.core().Counters
	for name, v := range map[string]uint64{
		"frames": c.FramesIn, "commits": c.Commits, "duplicates": c.Duplicates, "gaps": c.Gaps, "zombies": c.Zombies, "unknown": c.Unknown,
		"damaged": c.Damaged,
	} {
		w.report.Counters[name] += v
	}
}
