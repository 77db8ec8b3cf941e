package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/topology"
)

// world simulates the hosts: what a step does to them, and which states are wrong.
type world struct {
	t       *testing.T
	engines []Engine
	d       Desired // of the plan that is carried out
	clock   int64
	keys    map[string]string // engine/volume → digest of the keys in it
	read    map[string]string // engine/container → digest of the keys that it read last
	data    map[string]string // engine/volume → its data: "whole" and the unit for which it was made, or "part" of an interrupted copy
	dead    map[string]bool   // engines that do not answer
	held    bool              // new sessions are held back
	revived bool              // during this plan a medic has restarted another medic
	open    string            // shape in which sessions may be unfinished
}

func newWorld(t *testing.T, engines map[string][]string) *world {
	w := &world{t: t, data: map[string]string{}, keys: map[string]string{}, read: map[string]string{}, dead: map[string]bool{}}
	var ids []string
	for id := range engines {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		w.engines = append(w.engines, Engine{ID: id, Hosts: engines[id], OS: "linux", Arch: "amd64"})
	}
	return w
}

func (w *world) observed() Observed {
	o := Observed{}
	for _, e := range w.engines {
		if w.dead[e.ID] {
			continue
		}
		e.Containers, e.Volumes = slices.Clone(e.Containers), slices.Clone(e.Volumes)
		e.Revisions, e.Images, e.Networks = slices.Clone(e.Revisions), slices.Clone(e.Images), slices.Clone(e.Networks)
		e.DrainMarks, e.Keys = slices.Clone(e.DrainMarks), slices.Clone(e.Keys)
		o.Engines = append(o.Engines, e)
	}
	return o
}

func (w *world) engine(host string) *Engine {
	for i := range w.engines {
		if slices.Contains(w.engines[i].Hosts, host) || w.engines[i].ID == host {
			return &w.engines[i]
		}
	}
	w.t.Fatalf("a step names host %q, which is nowhere", host)
	return nil
}

func (w *world) container(e *Engine, name string) *Container {
	for i := range e.Containers {
		if e.Containers[i].Name == name {
			return &e.Containers[i]
		}
	}
	w.t.Fatalf("a step names container %s, which host %s does not have", name, e.Name())
	return nil
}

func (w *world) unit(name string) *Unit {
	for i := range w.d.Units {
		if w.d.Units[i].Name == name {
			return &w.d.Units[i]
		}
	}
	w.t.Fatalf("a step makes %s, which nobody wants", name)
	return nil
}

// do carries out a step. With part, a copy is left half done.
func (w *world) do(s Step, part bool) {
	w.t.Helper()
	e := w.engine(s.Host)
	w.clock++
	switch s.Do {
	case ShipImage:
		e.Images = append(e.Images, s.What)
	case CheckPorts:
		w.portsFree(e, s)
	case CreateNetwork:
		e.Networks = append(e.Networks, s.What)
	case CreateVolume:
		w.makeVolume(e, s)
	case DeleteVolume:
		w.drop(e, s)
	case CopyVolume:
		w.copy(e, s, part)
	case CarryKeys:
		w.carryKeys(e, s, part)
	case Create:
		w.create(e, s)
	case Start:
		w.start(e, s)
	case Stop:
		w.stop(e, s)
	case StopMedics:
		for _, c := range w.running(isMedic) {
			c.Running = false
		}
	case Remove:
		if w.container(e, s.What).Running {
			w.t.Fatalf("%s is removed while it runs", s.What)
		}
		e.Containers = slices.DeleteFunc(e.Containers, func(c Container) bool { return c.Name == s.What })
	case AwaitHeartbeat:
		if !w.container(e, s.What).Running {
			w.t.Fatalf("%s is waited for and does not run", s.What)
		}
	case SaveRevision:
		e.Revisions = append(e.Revisions, Revision{Name: s.What, Number: s.Number, Digest: w.d.RevisionDigest(), Image: w.d.Image,
			Shape: w.d.Shape, File: w.d.File})
	case DeleteRevision:
		e.Revisions = slices.DeleteFunc(e.Revisions, func(l Revision) bool { return l.Name == s.What })
	case RemoveHelper:
		e.Helpers = slices.DeleteFunc(e.Helpers, func(n string) bool { return n == s.What })
	case HoldSessions, DrainSessions, AwaitLeader:
		c := w.container(e, s.What)
		if !c.Running {
			w.t.Fatalf("%s at %s, which does not run", s.Do, s.What)
		}
		w.held = w.held || s.Do == HoldSessions
		if s.Do == DrainSessions {
			w.wholeFor(c.Shape)
			w.open = ""
		}
	case RemoveNetwork:
		e.Networks = slices.DeleteFunc(e.Networks, func(n string) bool { return n == s.What })
	case MarkDrained:
		e.DrainMarks = append(e.DrainMarks, DrainMark{Name: s.What, Shape: s.Shape})
	case UnmarkDrained:
		e.DrainMarks = slices.DeleteFunc(e.DrainMarks, func(q DrainMark) bool { return q.Name == s.What })
	}
	w.check(s)
	w.begin()
}

// stop ends a container. A medic that still runs restarts another medic once before it is stopped itself, and also an
// input, which then has forgotten that it was told to admit no session. While sessions are held all units are about to
// stop, so no other unit may have a medic.
func (w *world) stop(e *Engine, s Step) {
	c := w.container(e, s.What)
	c.Running = false
	medics := w.running(isMedic)
	switch {
	case isMedic(c) && w.held && len(medics) > 0 && !w.revived:
		w.revived, c.Running = true, true
		w.open = c.Shape
	case !isMedic(c) && w.held && len(medics) > 0:
		w.t.Fatalf("%s stops, and medic %s starts it again", s.Unit, medics[0].Unit)
	case isInput(c) && w.held && w.open != "" && !w.d.LoseSessions:
		w.t.Fatalf("%s stops, and sessions are not finished", s.Unit)
	}
}

// running returns the units of a kind that run on engines that answer.
func (w *world) running(of func(*Container) bool) (all []*Container) {
	for i := range w.engines {
		e := &w.engines[i]
		for j := range e.Containers {
			if c := &e.Containers[j]; c.Running && of(c) && !w.dead[e.ID] {
				all = append(all, c)
			}
		}
	}
	return all
}

// begin begins sessions wherever an input runs.
func (w *world) begin() {
	for _, e := range w.engines {
		for _, c := range e.Containers {
			if c.Running && isInput(&c) && !w.held && !w.dead[e.ID] {
				w.open = c.Shape
			}
		}
	}
}

// wholeFor demands that every node of a shape runs: otherwise its sessions would never end.
func (w *world) wholeFor(shape string) {
	runs, there := map[string]bool{}, map[string]bool{}
	for _, e := range w.engines {
		for _, c := range e.Containers {
			if c.Shape == shape && isNode(&c) {
				runs[c.Unit], there[c.Unit] = runs[c.Unit] || c.Running, true
			}
		}
	}
	for unit := range there {
		if !runs[unit] {
			w.t.Fatalf("sessions are to come to their end without %s", unit)
		}
	}
}

func (w *world) makeVolume(e *Engine, s Step) {
	if slices.ContainsFunc(e.Volumes, func(v Volume) bool { return v.Name == s.What }) {
		w.t.Fatalf("volume %s is made twice", s.What)
	}
	v := Volume{Name: s.What, Node: s.Unit}
	if s.Unit == "" {
		v.Fence = s.Host
	} else {
		v.Chain = w.unit(s.Unit).Chain
	}
	e.Volumes = append(e.Volumes, v)
	w.data[e.ID+"/"+s.What] = fmt.Sprintf("%s made at %d", s.Unit, w.clock)
}

func (w *world) drop(e *Engine, s Step) {
	for _, c := range e.Containers {
		if VolumeName(w.d.Cluster, c.Unit) == s.What {
			w.t.Fatalf("volume %s is dropped, and container %s has it", s.What, c.Name)
		}
	}
	e.Volumes = slices.DeleteFunc(e.Volumes, func(v Volume) bool { return v.Name == s.What })
	delete(w.data, e.ID+"/"+s.What)
	delete(w.keys, e.ID+"/"+s.What)
	e.Keys = slices.DeleteFunc(e.Keys, func(n KeysNote) bool { return n.Volume == s.What })
}

func (w *world) copy(e *Engine, s Step, part bool) {
	from := w.engine(s.From)
	whole, ok := w.data[from.ID+"/"+s.What]
	if !ok {
		w.t.Fatalf("there is nothing to copy: %s", s)
	}
	for _, x := range w.engines {
		for _, c := range x.Containers {
			if c.Unit == s.Unit && c.Running {
				w.t.Fatalf("data of %s is copied while it runs", s.Unit)
			}
		}
	}
	if part {
		whole = "part"
	}
	for i := range e.Volumes {
		if e.Volumes[i].Name == s.What {
			e.Volumes[i].Partial = part
		}
	}
	w.data[e.ID+"/"+s.What] = whole
}

// carryKeys brings keys into a volume. With part, the unit does not read them and no note is written.
func (w *world) carryKeys(e *Engine, s Step, part bool) {
	if !e.hasVolume(s.What) {
		w.t.Fatalf("keys are brought into volume %s, which is not there", s.What)
	}
	e.Keys = slices.DeleteFunc(e.Keys, func(n KeysNote) bool { return n.Volume == s.What })
	digest := w.unit(s.Unit).Keys
	w.keys[e.ID+"/"+s.What] = digest
	if part {
		return
	}
	for _, c := range e.Containers {
		if c.Unit == s.Unit && c.Running && c.Shape == w.d.Shape {
			w.read[e.ID+"/"+c.Name] = digest
		}
	}
	e.Keys = append(e.Keys, KeysNote{Volume: s.What, Digest: digest})
}

// allHaveTheirKeys demands that every running unit has read its keys.
func (w *world) allHaveTheirKeys() {
	w.t.Helper()
	for _, e := range w.engines {
		for _, c := range e.Containers {
			if w.dead[e.ID] || !c.Running {
				continue
			}
			if u := w.unit(c.Unit); u.Keys != "" && w.read[e.ID+"/"+c.Name] != u.Keys {
				w.t.Fatalf("%s has read %q, and its keys are %q", c.Name, w.read[e.ID+"/"+c.Name], u.Keys)
			}
		}
	}
}

func (w *world) create(e *Engine, s Step) {
	u := w.unit(s.Unit)
	if !slices.Contains(e.Images, w.d.Image) || u.Spec.Network != "" && !slices.Contains(e.Networks, u.Spec.Network) {
		w.t.Fatalf("%s: the image or the network is not there", s)
	}
	for _, m := range u.Spec.Mounts {
		if m.Volume != "" && !slices.ContainsFunc(e.Volumes, func(v Volume) bool { return v.Name == m.Volume }) {
			w.t.Fatalf("%s: volume %s is not there", s, m.Volume)
		}
	}
	if slices.ContainsFunc(e.Containers, func(c Container) bool { return c.Name == s.What }) {
		w.t.Fatalf("%s: it is there already", s)
	}
	var ports []int
	for _, p := range u.Spec.Ports {
		ports = append(ports, p.Outside)
	}
	e.Containers = append(e.Containers, Container{
		Ports: ports,
		Name:  s.What, Unit: u.Name, Host: u.Host, Role: u.Role, Chain: u.Chain, Spec: u.Hash, Shape: w.d.Shape, Image: w.d.Image,
		Created: w.clock,
	})
}

func (w *world) start(e *Engine, s Step) {
	for _, x := range w.engines {
		for _, c := range x.Containers {
			if !w.dead[x.ID] && c.Unit == s.Unit && c.Running && c.Name != s.What {
				w.t.Fatalf("%s is started while %s runs", s.Unit, c.Name)
			}
			if c.Unit == s.Unit && c.Name != s.What && x.ID == e.ID && c.Created > w.container(e, s.What).Created {
				w.t.Fatalf("%s is started, and medics would start %s", s.What, c.Name)
			}
		}
	}
	if got := w.data[e.ID+"/"+VolumeName(w.d.Cluster, s.Unit)]; got == "part" || got == "" {
		w.t.Fatalf("%s is started with %q for data", s.Unit, got)
	}
	c := w.container(e, s.What)
	if w.open != "" && w.open != c.Shape && !isMedic(c) && !w.d.LoseSessions {
		w.t.Fatalf("%s is started, and sessions of another shape are not finished", s.What)
	}
	c.Running, c.EverStarted = true, true
	if u := w.unit(s.Unit); u.Keys != "" && c.Spec == u.Hash {
		if w.read[e.ID+"/"+c.Name] = w.keys[e.ID+"/"+VolumeName(w.d.Cluster, s.Unit)]; w.read[e.ID+"/"+c.Name] == "" {
			w.t.Fatalf("%s is started without keys", s.What)
		}
	}
}

// check demands that no session sees two shapes: while an input runs, all running nodes have its shape.
func (w *world) check(s Step) {
	shapes := map[string]bool{}
	inputs := 0
	for _, e := range w.engines {
		for _, c := range e.Containers {
			if !c.Running || c.Role == topology.RoleMedic || w.dead[e.ID] {
				continue
			}
			shapes[c.Shape] = true
			if holds(c.Chain, topology.Input) {
				inputs++
			}
		}
	}
	if inputs > 0 && len(shapes) > 1 {
		w.t.Fatalf("behind %q inputs run among %d shapes", s, len(shapes))
	}
}

// carryOut plans and carries out the first n steps, or all of them if n is below 0. If n ends at a copy, the copy is
// left half done. It returns how many steps there were.
func (w *world) carryOut(d Desired, n int) int {
	w.t.Helper()
	w.d, w.held, w.revived = d, false, false
	w.begin()
	p, err := Make(d, w.observed())
	if err != nil {
		w.t.Fatal(err)
	}
	for i, s := range p.Steps {
		if i == n {
			if s.Do == CopyVolume || s.Do == CarryKeys {
				w.do(s, true)
			}
			break
		}
		w.do(s, false)
	}
	if n < 0 {
		w.allHaveTheirKeys()
	}
	return len(p.Steps)
}

// end returns the final state that matters: what runs where with which data. It leaves out the names of revisions, which
// count up.
func (w *world) end() string {
	var all []string
	for _, e := range w.engines {
		if w.dead[e.ID] {
			continue
		}
		for _, c := range e.Containers {
			all = append(all, fmt.Sprintf("%s %s running %v", e.ID, c.Name, c.Running))
		}
		for _, v := range e.Volumes {
			owner, _, _ := strings.Cut(w.data[e.ID+"/"+v.Name], " made")
			all = append(all, fmt.Sprintf("%s volume %s chain %q of %s", e.ID, v.Name, v.Chain, owner))
		}
		for _, q := range e.DrainMarks {
			all = append(all, fmt.Sprintf("%s note %s", e.ID, q.Name))
		}
		for _, l := range e.Revisions {
			all = append(all, fmt.Sprintf("%s ledger of %.8s", e.ID, l.Digest))
		}
		for _, n := range e.Keys {
			all = append(all, fmt.Sprintf("%s keys %s in %s", e.ID, n.Digest, n.Volume))
		}
		all = append(all, fmt.Sprintf("%s networks %v", e.ID, e.Networks))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func (w *world) clone() *world {
	c := *w
	c.engines = w.observed().Engines
	c.dead = map[string]bool{}
	c.data, c.keys, c.read = maps.Clone(w.data), maps.Clone(w.keys), maps.Clone(w.read)
	return &c
}

// portsFree fails the test if a check of ports would reject ports that containers of the cluster have.
func (w *world) portsFree(e *Engine, s Step) {
	for _, c := range e.Containers {
		for _, p := range s.Ports {
			if c.Running && slices.Contains(c.Ports, p.Outside) {
				w.t.Fatalf("port %d is checked while %s has it", p.Outside, c.Name)
			}
		}
	}
}
