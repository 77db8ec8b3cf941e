package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"posta.dev/posta/client/source/parquet/generated"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/topology"
)

const aboutModel = `what more cores would give: the CPU time per row of each part of a cluster, from profiles of all its processes, and the speed-up over one core of posta run that
follows from it, if nothing but this work takes time. A part that uses "cores" at once limits the speed to "most". The line of 1 to n cores compares the model with this machine`

var (
	// modelCores are the numbers of cores for which the model is computed.
	modelCores = []int{4, 8, 16, 32, 64}
	// modelHosts are the numbers of inputs, joiners and aggregators for which it is computed, each as measured with measuredHosts.
	modelHosts = []int{2, 4, 8}
)

const measuredHosts = 2

// leastPart is the smallest part that the table shows, as a fraction of the work. Profiles have a hundred samples a second, so smaller ones
// say little.
const leastPart = 0.005

// measureModel measures the parts of two clusters for every analysis, and of one for a file in each format, and computes what more cores
// would give.
func measureModel(ctx context.Context, c *Config) (cases []Case, err error) {
	for _, s := range workloads() {
		facts := c.factsOr(s.inRace)
		data, _, err := s.dataIn(c.Dir, facts)
		if err != nil {
			return cases, err
		}
		m := &modelled{c: c, s: &s, data: data, rows: facts}
		if err := m.run(ctx); err != nil {
			return cases, fmt.Errorf("%s: %w", s.name(), err)
		}
		cases = append(cases, m.cases()...)
	}
	for _, format := range generated.Formats() {
		more, err := c.modelFile(ctx, format)
		if err != nil {
			return cases, fmt.Errorf("one file of %s: %w", format, err)
		}
		cases = append(cases, more...)
	}
	return cases, nil
}

// modelledHits is the statement of ClickBench whose model is measured: groups by text, after a condition.
const modelledHits = 13

// modelFile measures the parts of the cluster of posta sql for a statement over one file, and computes what more cores would give.
func (c *Config) modelFile(ctx context.Context, format string) ([]Case, error) {
	own := *c
	own.Format = format
	data := dataset{"hits", format, c.factsOr(hitRows), gen.Hits}
	dir, _, err := data.made(ctx, &own)
	if err != nil {
		return nil, err
	}
	all, err := own.clickBench()
	if err != nil {
		return nil, err
	}
	profiles, err := os.MkdirTemp(c.Dir, "r")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(profiles) }()
	if own.Profile == "" {
		own.Profile = profiles
	}
	var found measuredCluster
	x := contestant{name: "model-sql", inPlace: true,
		cluster: &topology.Variant{JoinInInput: true, Settings: map[string]string{"limits.window": "8MiB"}, Roots: []string{dir}}}
	for turn := 0; turn < c.Rounds || found.cost() == 0; turn++ {
		if turn == max(c.Rounds, mostRuns) {
			return nil, fmt.Errorf("%w: %d runs of %d rows", errNoSamples, turn, data.rows)
		}
		if err := warm(dir); err != nil {
			return nil, err
		}
		s, label := all[modelledHits-1], x.name+"-"+format
		_, n, err := x.runClient(ctx, &own, label, "ask", dir, s.tables.ours+s.text)
		if err != nil {
			return nil, err
		}
		run, err := readParts(own.Profile, label, n.topo, false)
		if err != nil {
			return nil, err
		}
		found.add(run, data.rows)
	}
	parts, name := modelParts(found.processes, found.rows, 1), "one file of "+format+", posta sql"
	return append(partCases(name, parts), coreCase(name, parts, predict(parts, 1).perRow)), nil
}

// modelled is one analysis whose model is measured.
type modelled struct {
	c    *Config
	s    *workload
	data string
	rows int // of one run

	own, hosts measuredCluster
	one, all   Figure // wall time of posta run on one core, and on all
}

// measuredCluster is a cluster with the CPU time of its parts, summed over all rounds.
type measuredCluster struct {
	processes []modelProcess
	rows      int
}

// field returns the contestants: the cluster of posta run, one with several inputs, joiners and aggregators, and the first on one core.
func (m *modelled) field() (field []contestant) {
	// as in cmd/internal/run/run.go
	own := topology.Variant{JoinInInput: true, Settings: map[string]string{"limits.window": "8MiB"}, Roots: []string{m.data}}
	hosts := topology.Variant{Replicas: map[string]int{"input": measuredHosts, "joiner": measuredHosts, "aggregator": measuredHosts},
		Roots: []string{m.data}}
	field = []contestant{{name: "model-run", cluster: &own, inPlace: true}, {name: "model-hosts", cluster: &hosts, inPlace: true}}
	if cores := cores(); len(cores) > 1 {
		field = append(field, contestant{name: "model-one", cluster: &own, inPlace: true, host: func(*topology.Node) int { return cores[0] }})
	}
	return field
}

// mostRuns bounds how often the clusters run until profiles have found both at work.
const mostRuns = 100

// errNoSamples reports work that takes less time than the profiler can see.
var errNoSamples = errors.New("the profiles have no sample of the work; give more --rows")

// run measures the clusters. Little work of a fast machine may pass between two samples of the profiler, a hundredth of a second apart.
// Nothing can be divided by the cost of a cluster then, so both run until each has one.
func (m *modelled) run(ctx context.Context) error {
	for range mostRuns {
		if err := m.runOnce(ctx); err != nil {
			return err
		}
		if m.own.cost() > 0 && m.hosts.cost() > 0 {
			return nil
		}
	}
	return fmt.Errorf("%w: %d runs of %d rows", errNoSamples, mostRuns, m.rows)
}

// cost returns the CPU time per row of all that was found at work.
func (x *measuredCluster) cost() float64 { return totalCost(modelParts(x.processes, x.rows, 1)) }

func (m *modelled) runOnce(ctx context.Context) (err error) {
	profiles, err := os.MkdirTemp(m.c.Dir, "r")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(profiles) }()
	profiled := *m.c
	if profiled.Profile == "" {
		profiled.Profile = profiles
	}
	var answer []byte
	field := m.field()
	_, err = inTurns(ctx, m.c, field, func(ctx context.Context, x *contestant) (took modelRun, err error) {
		if err = warm(m.data); err != nil {
			return took, err
		}
		label := x.name + "-" + m.s.name()
		o, n, err := x.runAnalysis(ctx, &profiled, label, m.s, m.data)
		if err != nil {
			return took, err
		}
		if answer == nil {
			answer = o.Answer
		}
		if !bytes.Equal(answer, o.Answer) {
			return took, fmt.Errorf("the answers of %s and of %s differ", x.name, field[0].name)
		}
		took.wall = o.Wall
		took.processes, err = readParts(profiled.Profile, label, n.topo, passesOn(m.s.analysis))
		return took, err
	}, func(runs []modelRun) ([][]Measure, error) {
		m.own.add(runs[0].processes, m.rows)
		m.hosts.add(runs[1].processes, m.rows)
		if len(runs) > 2 {
			m.all.add(runs[0].wall.Seconds())
			m.one.add(runs[2].wall.Seconds())
		}
		return nil, nil
	})
	return err
}

// modelRun is one run of a cluster.
type modelRun struct {
	wall      time.Duration
	processes []modelProcess
}

// readParts reads the profiles of a run. passes says whether rows of the answers reach the reducer while others are still read.
func readParts(dir, label string, t *topology.Topology, passes bool) (all []modelProcess, err error) {
	for _, n := range t.Nodes() {
		stacks, err := readProfile(filepath.Join(dir, label+"-"+string(n.ID)+".prof"))
		if err != nil {
			return nil, err
		}
		if n.Index == 1 {
			alone := answersAlone(n.Chain)
			all = append(all, modelProcess{name: n.Stage, replicas: n.Of, alone: alone, after: alone && !passes})
		}
		all[len(all)-1].add(partsOf(stacks))
	}
	stacks, err := readProfile(filepath.Join(dir, label+"-client.prof"))
	if err != nil {
		return nil, err
	}
	client := modelProcess{name: "client", replicas: 1, alone: true, after: true}
	client.add(clientParts(stacks))
	return append(all, client), nil
}

// add adds the parts of one run.
func (x *measuredCluster) add(run []modelProcess, rows int) {
	x.rows += rows
	if x.processes == nil {
		x.processes = run
		return
	}
	for i := range run {
		x.processes[i].add(run[i].spent)
	}
}

// cases returns the table: the parts of each cluster, what more cores give, and what this machine says.
func (m *modelled) cases() (all []Case) {
	own, hosts := modelParts(m.own.processes, m.own.rows, 1), modelParts(m.hosts.processes, m.hosts.rows, 1)
	all = append(all, partCases(m.s.name()+", posta run", own)...)
	all = append(all, partCases(fmt.Sprintf("%s, %d inputs", m.s.name(), measuredHosts), hosts)...)
	one := predict(own, 1).perRow
	all = append(all, coreCase(m.s.name()+", posta run", own, one))
	for _, n := range modelHosts {
		all = append(all, coreCase(fmt.Sprintf("%s, %d inputs", m.s.name(), n),
			modelParts(m.hosts.processes, m.hosts.rows, float64(n)/measuredHosts), one))
	}
	if m.one.Median > 0 {
		n := len(cores())
		measured := Case{Name: fmt.Sprintf("%s, posta run, 1 to %d cores", m.s.name(), n)}
		measured.add([]Measure{{"measured", "×", m.one.Median / m.all.Median}, {"predicted", "×", one / predict(own, n).perRow},
			{"one core", "s", m.one.Median}, {"all cores", "s", m.all.Median}})
		all = append(all, measured)
	}
	return all
}

// partCases returns the parts of a cluster that matter, and at the end those that any number of cores share.
func partCases(cluster string, parts []modelPart) (all []Case) {
	total, shared := totalCost(parts), 0.0
	for _, p := range parts {
		switch {
		case p.most == 0:
			shared += p.cost
		case p.cost >= leastPart*total:
			x := Case{Name: cluster + ", " + p.name}
			x.add([]Measure{{"CPU", "ns/row", p.cost}, {"share", "%", 100 * p.cost / total}, {"cores", "", p.most},
				{"most", "×", total * p.most / p.cost}})
			all = append(all, x)
		}
	}
	x := Case{Name: cluster + ", runtime of all"}
	x.add([]Measure{{"CPU", "ns/row", shared}, {"share", "%", 100 * shared / total}})
	return append(all, x)
}

// coreCase returns the line of what more cores give, and names the part for which the cores wait longest if there are most of them.
func coreCase(cluster string, parts []modelPart, one float64) Case {
	var measures []Measure
	first := ""
	for _, n := range modelCores {
		p := predict(parts, n)
		measures = append(measures, Measure{fmt.Sprintf("%d cores", n), "×", one / p.perRow})
		first = p.first
	}
	x := Case{Name: strings.TrimSuffix(cluster+"; then "+first, "; then ")}
	x.add(measures)
	return x
}
