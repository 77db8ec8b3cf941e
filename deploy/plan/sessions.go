package plan

import (
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/topology"
)

// isFormer reports whether a container is of a node in another shape, and has run.
func (c *comparison) isFormer(k *Container) bool {
	return isNode(k) && k.Shape != c.Shape && k.EverStarted
}

// formerInputs returns the inputs that can say whether sessions of the former shape are unfinished; none if there cannot be any. Such
// sessions must not continue in another shape, because a node would take the ends from some senders for the ends from all (R12). The logs
// do not show whether there are any. Inputs know it once all nodes run, so a stopped cluster is started once more before it is changed. A
// drain mark says that this was done. If the inputs are gone, the sessions are lost, which is refused without Desired.LoseSessions.
func (c *comparison) formerInputs() (inputs []container, lost bool, err error) {
	shape := c.formerShape()
	closed := c.old(isInput, func(k *Container) bool { return k.Shape == shape })
	switch {
	case shape == "":
		return nil, false, nil
	case slices.ContainsFunc(c.units, func(u *unitState) bool { return u.node() && u.keep != nil && u.keep.EverStarted }):
		return nil, false, nil // a node of the new shape has run
	case slices.ContainsFunc(c.engines, func(e *Engine) bool { return len(e.DrainMarks) > 0 }):
		return nil, false, nil // the mark would have been removed before an input started
	case len(closed) > 0 && !slices.ContainsFunc(closed, func(k container) bool { return k.EverStarted }):
		return nil, false, nil // no input has ever run
	}
	inputs = byUnit(c.old(c.isFormer, isInput))
	if len(inputs) > 0 {
		return inputs, false, nil
	}
	if !c.LoseSessions {
		return nil, false, fmt.Errorf("%w: the inputs of the former topology are gone, so it is not known whether sessions have finished; "+
			"deploy it again first (posta deploy --rollback), or give --cancel-sessions, and unfinished ones are lost", ErrRefused)
	}
	return nil, true, nil
}

// formerShape returns the shape before this plan; "" if there was none but the desired one.
func (c *comparison) formerShape() string {
	if former := c.old(c.isFormer); len(former) > 0 {
		return former[0].Shape
	}
	if saved := c.observed.Revisions(); len(saved) > 0 && saved[0].Shape != c.Shape && c.onlyData() {
		return saved[0].Shape // the cluster was taken down, or its containers were removed
	}
	return ""
}

// onlyData reports whether the hosts have data of nodes, but no container of a node that ever ran.
func (c *comparison) onlyData() bool {
	data := false
	for _, e := range c.engines {
		data = data || slices.ContainsFunc(e.Volumes, func(v Volume) bool { return v.Chain != "" })
		if slices.ContainsFunc(e.Containers, func(k Container) bool { return isNode(&k) && k.EverStarted }) {
			return false
		}
	}
	return data
}

// forgetSessions makes all nodes except outputs start without data. Outputs see that their senders have new logs, and fail unfinished
// sessions (R8).
func (c *comparison) forgetSessions() {
	for _, u := range c.units {
		if u.node() && !holds(u.Chain, topology.Output) {
			u.data = nil
		}
	}
}

func byUnit(all []container) []container {
	slices.SortStableFunc(all, func(a, b container) int { return strings.Compare(a.Unit, b.Unit) })
	return all
}

// restartFormer starts the stopped nodes of the former shape if its inputs have to be asked. Inputs start last.
func (c *comparison) restartFormer(inputs []container) (stages []stage) {
	if len(inputs) == 0 {
		return nil
	}
	for _, kind := range []func(*Container) bool{isOther, isInput} {
		served := map[string]bool{} // units with a container that runs or was chosen
		for _, k := range c.old(kind) {
			served[k.Unit] = served[k.Unit] || k.Running
		}
		var chosen []container
		for _, k := range c.old(c.isFormer, kind) {
			if !served[k.Unit] { // the newest comes first
				served[k.Unit] = true
				chosen = append(chosen, k)
			}
		}
		stages = append(stages, each(chosen, Start), each(chosen, AwaitHeartbeat))
	}
	return stages
}

// drain holds back new sessions and waits for running ones. It asks the first input, which admits sessions for all inputs.
func drain(inputs []container) []stage {
	if len(inputs) == 0 {
		return nil
	}
	first := inputs[0]
	for _, k := range inputs {
		if k.Unit == first.Unit && k.Running {
			first = k
		}
	}
	return []stage{{first.step(HoldSessions)}, {first.step(DrainSessions)}}
}

// stopOld stops medics first, because they would restart nodes; then inputs, so that no session begins; then the other nodes.
//
// While medics are stopped one by one, a medic that still runs may restart one that was stopped, and that one may restart an input. That
// input does not know about the hold, so sessions may have begun there. The second drain waits for them.
func (c *comparison) stopOld(drained []container, earlier []Step) []stage {
	stops := func(kind func(*Container) bool) (s stage) {
		for _, k := range c.old(kind) {
			if k.Running || contains(earlier, Start, k.Name) {
				s = append(s, c.stop(k))
			}
		}
		return s
	}
	medics := stops(isMedic)
	stages := []stage{medics}
	if n := len(medics); n > 0 {
		stages = append(stages, stage{{Do: StopMedics, Host: medics[n-1].Host}})
		if i := slices.IndexFunc(earlier, func(s Step) bool { return s.Do == DrainSessions }); i >= 0 {
			stages = append(stages, stage{earlier[i]})
		}
	}
	stages = append(stages, stops(isInput))
	if len(drained) > 0 {
		k := drained[0]
		stages = append(stages, stage{{Do: MarkDrained, Host: k.at, What: drainMarkName(c.Cluster, k.Shape), Shape: k.Shape, Image: k.Image}})
	}
	return append(stages, stops(isOther))
}

// unmarkDrained removes the drain marks: inputs are about to start, so sessions may begin.
func (c *comparison) unmarkDrained(earlier []Step) (s stage) {
	for _, e := range c.engines {
		for _, m := range e.DrainMarks {
			s = append(s, hostStep(UnmarkDrained, e.Name(), m.Name))
		}
	}
	for _, x := range earlier {
		if x.Do == MarkDrained {
			s = append(s, hostStep(UnmarkDrained, x.Host, x.What))
		}
	}
	return s
}

// drainMarkName returns the name of the container that says that no session of a shape runs.
func drainMarkName(cluster, shape string) string {
	return cluster + "-quiet-" + shape[:min(8, len(shape))]
}
