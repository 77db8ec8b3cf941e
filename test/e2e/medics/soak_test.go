package medics

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/client"
	"posta.dev/posta/internal/freeports"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/soak"
	"posta.dev/posta/topology"
)

// TestSoak runs sessions of all kinds under chaos, and records what each process holds (package soak). The second of each kind of node and
// the first medic are spared by all faults: nobody may suspect them, and what they hold is what hours of work leave behind.
func TestSoak(t *testing.T) {
	seed := cmp.Or(*chaosSeed, rand.Uint64()>>32)
	s := newStorm(t, seed)
	s.spared = func(id topology.NodeID) bool {
		return id == "medic-1" || strings.HasSuffix(string(id), "-2") && id != "medic-2"
	}
	t.Logf("-chaos-seed %d", seed)
	s.stood = watchStandstills(t)
	data := t.TempDir()
	jobs := soakJobs(t, data)
	settings := map[string]string{"limits.segment": "1MiB", "limits.snapshot": "1MiB"} // snapshots and cuts all the time
	maps.Copy(settings, underLoad())
	c := newCluster(t, t.TempDir(), topology.Variant{
		Replicas: map[string]int{"input": 2, "joiner": 2, "aggregator": 2, "reducer": 2, "output": 2}, Settings: settings, Roots: []string{data},
	})
	c.serveMetrics()
	s.prepare(c.topo)
	c.up()
	s.attach(c)

	load := newSoakLoad(t, c)
	for _, j := range jobs { // each works before any fault
		if e := load.run(j); e.err != nil {
			t.Fatalf("%s, before any fault: %v", j.kind, e.err)
		}
	}
	load.begin(jobs)
	over := time.Now().Add(cmp.Or(*soakTime, 8*time.Second))
	every := 10 * time.Second
	if *soakTime == 0 {
		every = time.Second
	}
	r := beginRecord(t, c, s, load, every)
	s.rage(time.Until(over), every)
	ends := load.finish()
	r.finish()
	c.Settle()
	v := s.judge(ends, c.Sightings())
	t.Logf("%v", v)
	for what, all := range map[string][]string{"wrong answers": v.wrong, "hung": v.hung, "failed, and nothing permits it": v.unpermitted,
		"healthy and killed": v.unexplained} {
		if len(all) > 0 {
			t.Errorf("%s:\n%s", what, strings.Join(all, "\n"))
		}
	}
	r.check(jobs)
}

// watchStandstills notices when this process stands still, until the test ends.
func watchStandstills(t *testing.T) func(from, to time.Time) time.Duration {
	still := soak.NewStandstill()
	stop, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(soak.Interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				still.Tick(time.Now())
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-over })
	return still.Between
}

// soakJob is a session to run again and again.
type soakJob struct {
	kind string
	clustertest.Job
	plan *split.Plan // of a statement, before its first pass
}

// soakJobs returns sessions of all kinds: the four analyses with files that are sent, in place, and packed; SQL with joins in aggregators,
// several passes, windows, and Parquet.
func soakJobs(t *testing.T, data string) (jobs []soakJob) {
	t.Helper()
	for _, j := range clustertest.EveryAnalysis(t, 6000) {
		jobs = append(jobs, soakJob{kind: j.Analysis, Job: j})
	}
	bikes := jobs[0].Job
	dir := filepath.Join(data, "bikes")
	copyTo(t, bikes.Dir, dir)
	jobs = append(jobs, soakJob{kind: "bikes, in place", Job: clustertest.Job{Analysis: bikes.Analysis, Dir: dir, Want: bikes.Want}})
	packed := t.TempDir()
	copyTo(t, bikes.Dir, packed)
	packAll(t, packed)
	jobs = append(jobs, soakJob{kind: "bikes, gzip", Job: clustertest.Job{Analysis: bikes.Analysis, Dir: packed, Want: bikes.Want}})
	for i, j := range clustertest.Statements(t, 4000) {
		p := *j.Asked
		p.PartitionFrom = 1 // joins in aggregators
		jobs = append(jobs, soakJob{kind: fmt.Sprintf("sql %d", i+1), Job: j, plan: &p})
		if i == 0 {
			jobs = append(jobs, asParquet(t, j, &p))
		}
	}
	return jobs
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	if err := clustertest.CopyDirectory(from, to); err != nil {
		t.Fatal(err)
	}
}

// packAll replaces the CSV files below a directory by packed ones.
func packAll(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.csv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files to pack below %s: %v", dir, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err = w.Write(text); err == nil {
			err = w.Close()
		}
		if err == nil {
			err = os.WriteFile(f+".gz", b.Bytes(), 0o600)
		}
		if err == nil {
			err = os.Remove(f)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// asParquet returns a job with its table lineitem as a Parquet file.
func asParquet(t *testing.T, j clustertest.Job, p *split.Plan) soakJob {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "sql", "--quiet", "--data", j.Dir, "--out", filepath.Join(dir, "lineitem.parquet"),
		"SELECT * FROM 'lineitem.csv'")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("write Parquet: %v: %s", err, out)
	}
	plan := *p
	plan.Tables = slices.Clone(p.Tables)
	for i := range plan.Tables {
		if plan.Tables[i].Name == "lineitem" {
			plan.Tables[i].Files = "lineitem.parquet"
		}
	}
	return soakJob{kind: "sql, parquet", Job: clustertest.Job{Analysis: j.Analysis, Dir: dir, Want: j.Want}, plan: &plan}
}

// soakLoad runs sessions of all kinds, at a rate that leaves the processors idle most of the time.
type soakLoad struct {
	t       *testing.T
	entries []string
	stop    context.CancelFunc
	wg      sync.WaitGroup

	mu   sync.Mutex
	ends []soakEnd
}

// soakEnd is an end and the kind of its session.
type soakEnd struct {
	kind string
	end
}

func newSoakLoad(t *testing.T, c *cluster) *soakLoad {
	return &soakLoad{t: t, entries: append(c.topo.EntryPoints(), c.topo.Outputs()...)}
}

func (l *soakLoad) begin(jobs []soakJob) {
	ctx, stop := context.WithCancel(l.t.Context())
	l.stop = stop
	for _, j := range jobs {
		l.wg.Add(1)
		go func() {
			defer l.wg.Done()
			for ctx.Err() == nil {
				e := l.run(j)
				l.mu.Lock()
				l.ends = append(l.ends, e)
				l.mu.Unlock()
				select {
				case <-ctx.Done():
				case <-time.After(*soakPause):
				}
			}
		}()
	}
	l.t.Cleanup(func() { stop(); l.wg.Wait() })
}

// run runs one session, or those of all passes of a statement, to the end.
func (l *soakLoad) run(j soakJob) soakEnd {
	ctx, cancel := context.WithTimeout(context.Background(), hungAfter)
	defer cancel()
	e := soakEnd{j.kind, end{analysis: j.Analysis, from: time.Now()}}
	a, err := l.answer(ctx, j)
	e.to, e.err = time.Now(), err
	if err == nil {
		if got := clustertest.Answer(l.t, a); !bytes.Equal(got, j.Want) {
			e.wrong, e.err = true, fmt.Errorf("another answer than the oracle's: %.300s", got)
		}
	}
	return e
}

func (l *soakLoad) answer(ctx context.Context, j soakJob) (*client.Answer, error) {
	cfg := client.Config{Entries: l.entries, Analysis: j.Analysis, Dir: j.Dir, GiveUpAfter: hungAfter}
	if j.plan == nil {
		return client.Run(ctx, cfg)
	}
	for plan := j.plan; ; {
		pass := plan.NextPass()
		now := cmp.Or(pass, plan)
		of, err := split.Analysis(now)
		if err != nil {
			return nil, err
		}
		if cfg.Plan, err = now.Encode(); err != nil {
			return nil, err
		}
		cfg.Columns = columnsOf(of)
		a, err := client.Run(ctx, cfg)
		if err != nil || pass == nil {
			return a, err
		}
		var rows []string
		for row := range a.Queries[0].All() {
			rows = append(rows, row[0].Text)
		}
		if plan, err = plan.Answered(pass, rows); err != nil {
			return nil, err
		}
	}
}

// finish waits for the sessions that are under way and returns all ends.
func (l *soakLoad) finish() (all []end) {
	l.stop()
	l.wg.Wait()
	for _, e := range l.ends {
		all = append(all, e.end)
	}
	return all
}

// since returns the sessions that ended after the first n, and how many there are now.
func (l *soakLoad) since(n int) ([]soakEnd, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.ends[n:]), len(l.ends)
}

// serveMetrics lets all processes serve metrics, which count goroutines.
func (c *cluster) serveMetrics() {
	c.t.Helper()
	first, err := freeports.Row(len(c.topo.All()))
	text, err2 := os.ReadFile(c.topo.File)
	with := strings.Replace(string(text), "[hosts.local]\n", fmt.Sprintf("[hosts.local]\nmetrics = \"127.0.0.1:%d\"\n", first), 1)
	if err = errors.Join(err, err2); err == nil {
		err = os.WriteFile(c.topo.File, []byte(with), 0o600)
	}
	if err == nil {
		c.topo, err = topology.Load(c.topo.File)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// soakRecord writes a sample now and then.
type soakRecord struct {
	c     *cluster
	s     *storm
	load  *soakLoad
	every time.Duration
	file  *os.File
	done  chan struct{}
	over  chan struct{}

	last                time.Time // of the last sample
	ended, faults, told int
	cpu                 map[int]float64 // of each process, at the last look
	open                map[topology.NodeID]bool
	samples             []soak.Sample
}

func beginRecord(t *testing.T, c *cluster, s *storm, load *soakLoad, every time.Duration) *soakRecord {
	t.Helper()
	into := cmp.Or(*soakInto, filepath.Join(t.TempDir(), "soak.jsonl"))
	f, err := os.OpenFile(into, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	r := &soakRecord{c: c, s: s, load: load, every: every, file: f, done: make(chan struct{}), over: make(chan struct{}),
		cpu: map[int]float64{}, open: map[topology.NodeID]bool{}, last: time.Now()}
	r.told = len(c.Sightings())
	go func() {
		defer close(r.over)
		next := time.Now()
		for {
			next = next.Add(every)
			select {
			case <-time.After(time.Until(next)):
				r.sample()
				if now := time.Now(); now.After(next.Add(every)) { // it stood still
					next = now
				}
			case <-r.done:
				r.sample()
				return
			}
		}
	}()
	return r
}

func (r *soakRecord) finish() {
	close(r.done)
	<-r.over
	if err := r.file.Close(); err != nil {
		r.c.t.Error(err)
	}
}

func (r *soakRecord) sample() {
	now := time.Now()
	x := soak.Sample{At: now, Stood: r.s.delayed(r.last, now).Seconds(), Load: soak.Load(), Processes: map[string]soak.Process{},
		Ended: []soak.Ended{}, Suspected: []string{}}
	cpu := map[int]float64{os.Getpid(): soak.CPUTime(os.Getpid())}
	for _, n := range r.c.topo.All() {
		p, alive := soak.Look(r.c.pid(n.ID), r.c.topo.MetricsAddress(n), n.DataDir)
		if !alive {
			continue
		}
		p.Spared = r.s.spared(n.ID)
		x.Processes[string(n.ID)] = p
		cpu[p.PID] = soak.CPUTime(p.PID)
	}
	for pid, used := range cpu {
		x.CPU += used - r.cpu[pid]
	}
	r.cpu = cpu
	ends, ended := r.load.since(r.ended)
	r.ended, r.last = ended, now
	for i := range ends {
		x.Ended = append(x.Ended, soak.Ended{Kind: ends[i].kind, Outcome: ends[i].outcome(), Seconds: ends[i].to.Sub(ends[i].from).Seconds()})
	}
	r.s.mu.Lock()
	x.Faults, r.faults = len(r.s.faults)-r.faults, len(r.s.faults)
	r.s.mu.Unlock()
	told := r.c.Sightings()
	for _, e := range told[r.told:] {
		switch {
		case e.Late:
		case e.Kind == core.Recovered:
			r.open[e.Node] = false
		case e.Kind == core.Suspected && !r.open[e.Node]:
			r.open[e.Node] = true
			x.Suspected = append(x.Suspected, string(e.Node))
		}
	}
	r.told = len(told)
	r.samples = append(r.samples, x)
	if err := soak.Write(r.file, &x); err != nil {
		r.c.t.Error(err)
	}
}

func (e *soakEnd) outcome() soak.Outcome {
	switch {
	case e.err == nil:
		return soak.Right
	case e.hung():
		return soak.Hung
	case !e.wrong && e.inWords():
		return soak.Failed
	}
	return soak.Wrong
}

// check reports what a record must not, or must, contain.
func (r *soakRecord) check(jobs []soakJob) {
	t, seen, kinds := r.c.t, map[string]bool{}, map[string]bool{}
	for i := range r.samples {
		x := &r.samples[i]
		for _, id := range x.Suspected {
			if r.s.spared(topology.NodeID(id)) {
				t.Errorf("%s: %s was suspected, which no fault has hit", x.At.Format(time.TimeOnly), id)
			}
		}
		for id, p := range x.Processes {
			if seen[id] = true; p.Memory == 0 || p.Files == 0 || p.Disk == 0 {
				t.Errorf("%s holds %+v", id, p)
			}
		}
		for _, e := range x.Ended {
			kinds[e.Kind] = true
		}
	}
	for _, n := range r.c.topo.All() {
		if !seen[string(n.ID)] {
			t.Errorf("the record has nothing of %s", n.ID)
		}
	}
	for _, j := range jobs {
		if !kinds[j.kind] {
			t.Errorf("the record has no session of %s", j.kind)
		}
	}
}

// columnsOf is client.Config.Columns of an analysis.
func columnsOf(a *analyses.Analysis) func(string) []csv.Column {
	return func(stream string) []csv.Column {
		if i := a.StreamIndex(stream); i >= 0 {
			return a.Streams[i].Columns
		}
		return nil
	}
}
