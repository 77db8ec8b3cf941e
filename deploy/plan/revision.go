package plan

import (
	"fmt"
	"slices"
)

// revisionName returns the name of the container that keeps a topology.
func revisionName(cluster string, number int) string {
	return fmt.Sprintf("%s-ledger-%d", cluster, number)
}

// revisionNumber returns the number under which the desired topology is saved. If it is the newest revision already, an earlier run was
// interrupted while it saved it, and the number is used again.
func (c *comparison) revisionNumber() int {
	if saved := c.observed.Revisions(); len(saved) > 0 && saved[0].Digest == c.RevisionDigest() {
		return saved[0].Number
	}
	number := 1
	for _, e := range c.engines {
		for _, r := range e.Revisions {
			number = max(number, r.Number+1)
		}
	}
	return number
}

// unsaved returns the hosts on which the desired topology is not saved as the newest revision.
func (c *comparison) unsaved() []Host {
	digest, number := c.RevisionDigest(), c.revisionNumber()
	return c.onePerEngine(func(_ Host, e *Engine) bool {
		return !slices.ContainsFunc(e.Revisions, func(r Revision) bool { return r.Digest == digest && r.Number == number })
	})
}

// confirm waits for the heartbeat of every unit for which the plan has not waited yet, and for a leader, so that only a topology that works
// is saved. A plan that changes nothing does not wait.
func (c *comparison) confirm(earlier []Step) []stage {
	if len(earlier)+len(c.unsaved()) == 0 {
		return nil
	}
	var beats, leader stage
	for _, u := range c.units {
		if !slices.ContainsFunc(earlier, func(s Step) bool { return s.Do == AwaitHeartbeat && s.Unit == u.Name }) {
			beats = append(beats, u.step(AwaitHeartbeat))
		}
		if u.Medic() && leader == nil {
			leader = stage{u.step(AwaitLeader)}
		}
	}
	return []stage{beats, leader}
}

// Confirm returns the plan for a cluster that is already in the desired state: it checks that all units send heartbeats and stay up. It
// changes nothing.
func Confirm(d Desired, o Observed) Plan {
	c := compare(&d, &o)
	var beats, leader, steady stage
	for _, u := range c.units {
		beats, steady = append(beats, u.step(AwaitHeartbeat)), append(steady, u.step(AwaitSteady))
		if u.Medic() && leader == nil {
			leader = stage{u.step(AwaitLeader)}
		}
	}
	var steps []Step
	for _, s := range []stage{beats, leader, steady} {
		steps = appendStage(steps, s)
	}
	return Plan{Kind: Nothing, Steps: steps}
}

// saveRevision saves the topology as the newest revision, after everything else: on every engine, so that the loss of one does not lose it.
func (c *comparison) saveRevision([]Step) []stage {
	var s stage
	number := c.revisionNumber()
	for _, h := range c.unsaved() {
		save := hostStep(SaveRevision, h.Name, revisionName(c.Cluster, number))
		save.Number = number
		s = append(s, save)
	}
	return []stage{s}
}

// deleteRevisions keeps this revision and the newest different one before it, and deletes the others.
func (c *comparison) deleteRevisions([]Step) []stage {
	digest, number := c.RevisionDigest(), c.revisionNumber()
	keep := []int{number}
	saved := c.observed.Revisions()
	if i := slices.IndexFunc(saved, func(r Revision) bool { return r.Number < number && r.Digest != digest }); i >= 0 {
		keep = append(keep, saved[i].Number)
	}
	var s stage
	for _, e := range c.engines {
		for _, r := range e.Revisions {
			if !slices.Contains(keep, r.Number) {
				s = append(s, hostStep(DeleteRevision, e.Name(), r.Name))
			}
		}
	}
	return []stage{s}
}
