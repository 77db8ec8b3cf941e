package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/query"
	"posta.dev/posta/topology"
)

const aboutSteps = ": ns of CPU time per row in each step of a statement, of all processes, by profiles of 100 samples a second; " +
	"a sample belongs to the innermost function that a step has"

// step is a part of the work for a statement.
type step struct {
	name  string
	stage string   // only in the processes of this stage; "": in all
	of    []string // beginnings of the names of its functions; those of Posta without posta.dev/posta/
}

// steps are tried in this order for each function of a stack, from the innermost to the outermost, and the first step that has a function
// counts. So what copies, allocates or clears memory counts for the step that needs it, and a function of package eval counts for the
// condition, the column or the aggregate for which it is called.
//
// The borders are those of functions, not of data: an aggregator that takes groups and joins them merges, and where the parser skips rows
// by a condition, it decodes. "plan" is everything that Posta does to understand a statement, in each process. What has no step is "other":
// start and end of processes, the loops of nodes, and the profiler. "collector" and "scheduler" are goroutines of Go's runtime; memory that
// is marked or freed within other goroutines counts for their steps.
var steps = []step{
	{name: ofCaller, of: []string{"analyses/sql/exec.(*worker).compute"}}, // of a condition, or of a column
	{name: "read", of: []string{"os.(*File).Read", "nodes/inplace.", "nodes/role.(*Chunk).Sum", "rows/csv.(*Cutter)", "rows/csv.ends",
		"rows/csv.linesIn", "client/source/unpack."}},
	{name: "order", of: []string{"analyses/sql/values.Sort", "rows/fold.(*Table).Sorted"}},
	{name: "encode", of: []string{"rows/batch.(*Builder).Append", "rows/batch.append", "rows/fold.(*Table).AppendRows",
		"rows/fold.(*column).append", "protocol.", "nodes/core/record."}},
	{name: "decode", of: []string{"rows/csv.", "rows/columnar.", "rows/batch.", "client/source/", "analyses/sql/field.", "analyses/parse.",
		"analyses/sql/exec.(*runReader)", "analyses/sql/exec.(*columnReader)", "analyses/sql/exec.(*Scan)", "analyses/sql/exec.(*columns)"}},
	{name: "filter", of: []string{"analyses/sql/exec.(*worker).pass", "analyses/sql/exec.(*worker).after",
		"analyses/sql/exec.(*Joiner).follow", "analyses/sql/exec.(*LedTo)"}},
	{name: "join", of: []string{"analyses/sql/exec.(*lookup)", "analyses/sql/exec/operators.(*join)",
		"analyses/sql/exec/operators.(*Lookup)", "analyses/sql/exec/operators.(*chaining)"}},
	{name: "fold", stage: "input", of: folds},
	{name: "log", of: []string{"wal.", "nodes.committer"}},
	{name: "link", of: []string{"link.", "link/", "zmqx."}},
	{name: "merge", stage: "aggregator", of: folds},
	{name: "finish", stage: "reducer", of: folds},
	{name: "print", of: []string{"bench.reportAnswer", "client.(*Answer)", "nodes/output."}},
	{name: "plan", of: []string{"analyses/sql/split.", "analyses/sql/syntax.", "analyses/sql/bind.", "analyses/sql/optimize.", "query."}},
	{name: "collector", of: []string{"runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge"}},
	{name: "scheduler", of: []string{"runtime.mcall", "runtime.mstart", "runtime.sysmon"}},
}

// folds work with groups: their keys, and the values of aggregates. An input makes groups, an aggregator merges them, and a reducer makes
// rows of them.
var folds = []string{"rows/fold.", "rows/exact.", "nodes/aggregator.", "nodes/internal/reducer.", "analyses/sql/exec.",
	"analyses/sql/exec/operators.", "analyses/sql/aggregate."}

const (
	noStep   = "other" // what has no step
	ofCaller = ""      // what belongs to the step of the function that calls it
)

// stepsOf measures the steps of statements, each on a cluster of its own.
func (c *Config) stepsOf(ctx context.Context, done Section, dir string, rows int, statements []statement) (Section, error) {
	profiles, err := os.MkdirTemp(c.Dir, "r")
	if err != nil {
		return done, err
	}
	defer func() { _ = os.RemoveAll(profiles) }()
	own := *c
	if own.Profile == "" {
		own.Profile = profiles
	}
	cluster := contestant{name: "steps", inPlace: true,
		cluster: &topology.Variant{JoinInInput: true, Settings: map[string]string{"limits.window": "8MiB"}, Roots: []string{dir}}}
	for _, s := range statements {
		one, err := repeat(ctx, s.name, c.rounds(), func(ctx context.Context, _ int) ([]Measure, error) {
			if err := warm(dir); err != nil {
				return nil, err
			}
			label := "steps-" + s.name
			_, n, err := cluster.runClient(ctx, &own, label, "ask", dir, s.tables.ours+s.text)
			if err != nil {
				return nil, err
			}
			spent, err := readSteps(own.Profile, label, n.topo)
			return stepMeasures(spent, rows), err
		})
		var ended *exec.ExitError
		if errors.As(err, &ended) && ended.ExitCode() == wrongUse {
			done.Skipped = append(done.Skipped, Skip{"statement " + s.name, err.Error()})
			continue
		}
		if err != nil {
			return done, err
		}
		done.Cases = append(done.Cases, one)
	}
	return done, nil
}

// runAsk answers a statement as `posta sql` does, on a cluster that runs.
func runAsk(ctx context.Context, file, dir, text string) (err error) {
	begin := time.Now()
	cfg := query.Cluster(file)
	cfg.Data = dir
	db, err := query.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	script, err := db.Prepare(ctx, text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, script.Close()) }()
	a, err := script.Run(ctx)
	if err != nil {
		return err
	}
	return reportAnswer(begin, a, nil)
}

// readSteps reads the profiles of a run, and sums the time of each step.
func readSteps(dir, label string, t *topology.Topology) (map[string]time.Duration, error) {
	spent := map[string]time.Duration{}
	read := func(name, stage string) error {
		stacks, err := readProfile(filepath.Join(dir, label+"-"+name+".prof"))
		for i := range stacks {
			spent[stepOf(&stacks[i], stage)] += stacks[i].spent
		}
		return err
	}
	for _, n := range t.Nodes() {
		if err := read(string(n.ID), n.Stage); err != nil {
			return nil, err
		}
	}
	return spent, read("client", "client")
}

// stepOf returns the step to which a sample belongs.
func stepOf(s *stack, stage string) string {
	for _, f := range s.functions {
		f = strings.TrimPrefix(f, "posta.dev/posta/")
		i := slices.IndexFunc(steps, func(x step) bool {
			return (x.stage == "" || x.stage == stage) &&
				slices.ContainsFunc(x.of, func(begin string) bool { return strings.HasPrefix(f, begin) })
		})
		if i >= 0 && steps[i].name != ofCaller {
			return steps[i].name
		}
	}
	return noStep
}

func stepMeasures(spent map[string]time.Duration, rows int) (all []Measure) {
	total := time.Duration(0)
	add := func(name string, t time.Duration) {
		all = append(all, Measure{name, "", float64(t.Nanoseconds()) / float64(max(1, rows))})
		total += t
	}
	for _, x := range steps {
		if x.name != ofCaller {
			add(x.name, spent[x.name])
		}
	}
	add(noStep, spent[noStep])
	add("all", total)
	return all
}
