package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/client"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/truth"
	"posta.dev/posta/topology"
)

// envMortal makes the test's program a client that kills itself. Its value describes the client, as JSON.
const envMortal = "POSTA_E2E_MORTAL"

// weather is the stream of bikes that a client sends first.
const weather = "weather"

// mortal is a client process that dies by SIGKILL just before it sends one of its chunks. With InPlace, it dies after inputs have read a
// part of the files in place.
type mortal struct {
	Entries []string
	Plan    []byte // of a statement; empty for bikes
	Dir     string
	Session string
	Resume  bool
	Chunk   int
	Lanes   int
	DiesAt  int64 // number of chunks it has cut by then, including those that the cluster had taken before
	InPlace bool
	First   string // a file of weather: before its first chunk is taken, nothing else of this stream is sent; empty for none
}

func (m *mortal) config() (client.Config, error) {
	id, err := session.Parse(m.Session)
	cfg := client.Config{Entries: m.Entries, Analysis: "bikes", Dir: m.Dir, Session: id, Resume: m.Resume, Chunk: m.Chunk, Lanes: m.Lanes,
		Columns: columnsOfBikes}
	if m.Plan != nil {
		cfg.Analysis, cfg.Plan, cfg.Columns = split.Name, m.Plan, nil
	}
	return cfg, err
}

func columnsOfBikes(stream string) []analyses.Column {
	a, err := known().Find("bikes")
	if err != nil {
		panic(err)
	}
	return a.Streams[a.StreamIndex(stream)].Columns
}

// mortalMain is the main function of that process.
func mortalMain(spec string) int {
	var m mortal
	err := json.Unmarshal([]byte(spec), &m)
	if err == nil {
		var cfg client.Config
		if cfg, err = m.config(); err == nil {
			var cut atomic.Int64
			var taken atomic.Bool // something of weather
			cfg.Inspect = func(stream, file string, _ []byte) (func([]byte, uint64) error, error) {
				first := file == m.First
				return func([]byte, uint64) error {
					for m.First != "" && stream == weather && !first && !taken.Load() {
						time.Sleep(time.Millisecond)
					}
					first = false
					if cut.Add(1) == m.DiesAt {
						_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
						select {} // the signal arrives at once
					}
					return nil
				}, nil
			}
			cfg.OnProgress = func(p client.Progress) {
				for _, s := range p.Streams {
					taken.Store(taken.Load() || s.Name == weather && s.Acked > 0)
				}
			}
			if m.InPlace {
				cfg.Inspect = nil
				cfg.OnProgress = func(p client.Progress) {
					if slices.ContainsFunc(p.Streams, func(s client.StreamProgress) bool { return s.InPlace > 0 }) {
						_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
						select {} // the signal arrives at once
					}
				}
			}
			_, err = client.Run(context.Background(), cfg)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// live runs the process until it kills itself.
func (m *mortal) live(ctx context.Context) error {
	spec, err := json.Marshal(m)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), envMortal+"="+string(spec))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var said bytes.Buffer
	cmd.Stderr = &said
	err = cmd.Run()
	if state := cmd.ProcessState; state != nil {
		if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL && ctx.Err() == nil {
			return nil
		}
	}
	return fmt.Errorf("the client ends otherwise than by its own hand: %w: %s", err, said.Bytes())
}

// resumed is a session whose clients die one after the other, over files in one form.
type resumed struct {
	form string
	data *dataset
	next mortal
	dies *rand.Rand
}

// TestR17_ClientsAreKilledAndResumed: one client process after the other is killed with SIGKILL at any chunk. Each has its own chunk size
// and lanes. Nodes of each stage are killed as well, and others are paused. The answer equals the oracle's for every form of the files.
// With other files nothing is sent.
func TestR17_ClientsAreKilledAndResumed(t *testing.T) {
	c := start(t, topology.Variant{Replicas: map[string]int{"input": 2, "joiner": 2, "aggregator": 2, "output": 2},
		Settings: map[string]string{"limits.client_timeout": "10m", "limits.sessions": "16"}}) // all sessions are open at once
	ctx := deadline(t)
	rounds, rows := 2, 20_000
	if *long {
		rounds, rows = 6, 100_000 // enough rows for a chunk at which the last client dies
	}
	var all []*resumed
	for i, f := range append([]form{{name: "CSV"}}, forms...) {
		switch f.name {
		case "CSV", ".gz", ".zst", ".lz4", "JSON Lines", "Parquet", "UTF-16LE":
		default:
			continue
		}
		d := generated(t, rows)
		if f.write != nil {
			d.rewrite(t, f)
		}
		all = append(all, &resumed{form: f.name, data: d, dies: rand.New(rand.NewPCG(uint64(i), 17)),
			next: mortal{Entries: c.topo.EntryPoints(), Dir: d.dir, Session: session.New().String()}})
	}
	asked := statements(t, rows)
	for i, d := range append(asked[:1:1], asked[len(asked)-1]) { // groups and best rows; joins in aggregators
		all = append(all, &resumed{form: "SQL", data: d, dies: rand.New(rand.NewPCG(uint64(i), 18)),
			next: mortal{Entries: c.topo.EntryPoints(), Plan: d.plan, Dir: d.dir, Session: session.New().String()}})
	}
	stages := []topology.NodeID{"aggregator-1", "input-2", "joiner-2", "output-1"}
	for round := range rounds {
		each(all, func(r *resumed) {
			r.next.Chunk, r.next.Lanes = 2<<10+r.dies.IntN(16<<10), 1+r.dies.IntN(8)
			r.next.DiesAt = int64(20*(round+1) + r.dies.IntN(40))
			r.next.First = ""
			if round == 0 && r == all[0] {
				r.next.First = r.weather(t) // otherwise an input that stands still may not have taken what is changed below
			}
			if err := r.next.live(ctx); err != nil {
				t.Errorf("%s: %v", r.form, err)
			}
			r.next.Resume = true
		})
		paused := stages[(round+1)%len(stages)]
		c.signal(paused, syscall.SIGSTOP)
		c.kill(stages[round%len(stages)])
		c.supervise(stages[round%len(stages)])
		c.signal(paused, syscall.SIGCONT)
		if round == 0 {
			all[0].refusesOthers(ctx, t)
		}
	}
	if t.Failed() {
		return
	}
	each(all, func(r *resumed) {
		cfg, err := r.next.config()
		if err != nil {
			t.Error(err)
			return
		}
		cfg.Chunk, cfg.Lanes = 100<<10, 0
		a, err := client.Run(ctx, cfg)
		if err != nil {
			t.Errorf("%s: %v", r.form, err)
			return
		}
		want, got := r.data, truth.Queries(t, a)
		if r.form == "JSON Lines" || r.form == "Parquet" { // rejected rows have other line numbers there, and some have other reasons
			want, got = &dataset{want: withoutReasons(t, want.want, nil)}, withoutReasons(t, got, nil)
		}
		want.check(t, got)
	})
}

// TestR17_ResumedAfterFilesWereReadInPlace: a client dies while inputs read its files in place. Other clients continue the upload from
// copies that no input can read, like those of another machine. These clients may die, too.
func TestR17_ResumedAfterFilesWereReadInPlace(t *testing.T) {
	t.Run("text", func(t *testing.T) { resumedAfterInPlace(t, generated(t, 20_000), true) })
	t.Run("columns", func(t *testing.T) { resumedAfterInPlace(t, inColumns(t, 200_000), false) })
}

// resumedAfterInPlace also has a client resume with other files, if these can be changed as text.
func resumedAfterInPlace(t *testing.T, d *dataset, text bool) {
	v := inPlace(topology.Variant{Replicas: map[string]int{"input": 2, "joiner": 1}}, d.dir)
	v.Settings["limits.window"] = "64KiB"
	c := start(t, v)
	ctx := deadline(t)
	copied := t.TempDir()
	if err := clustertest.CopyDirectory(d.dir, copied); err != nil {
		t.Fatal(err)
	}
	first := mortal{Entries: c.topo.EntryPoints(), Dir: d.dir, Session: session.New().String(), InPlace: true}
	c.signal("joiner-1", syscall.SIGSTOP) // no file is read to its end
	if err := first.live(ctx); err != nil {
		t.Fatal(err)
	}
	c.signal("joiner-1", syscall.SIGCONT)
	second := mortal{Entries: first.Entries, Dir: copied, Session: first.Session, Resume: true, Chunk: 8 << 10, DiesAt: 20}
	if err := second.live(ctx); err != nil {
		t.Fatal(err)
	}
	if third := (&resumed{data: d, next: second}); text {
		third.refusesOthers(ctx, t)
	}
	cfg, err := second.config()
	if err != nil {
		t.Fatal(err)
	}
	a, err := client.Run(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	d.check(t, truth.Queries(t, a))
}

// each calls a function for all sessions at once.
func each(all []*resumed, do func(*resumed)) {
	var wg sync.WaitGroup
	for _, r := range all {
		wg.Add(1)
		go func() {
			defer wg.Done()
			do(r)
		}()
	}
	wg.Wait()
}

// refusesOthers resumes with files of which one has another digit in its first row. The client must refuse them.
func (r *resumed) refusesOthers(ctx context.Context, t *testing.T) {
	t.Helper()
	other := t.TempDir()
	if err := os.CopyFS(other, os.DirFS(r.data.dir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(other, filepath.FromSlash(r.weather(t)))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header, rows, _ := bytes.Cut(text, []byte("\n"))
	at := bytes.IndexAny(rows, "0123456789")
	rows[at] ^= 1
	put(t, path, bytes.Join([][]byte{header, rows}, []byte("\n")))
	cfg, err := r.next.config()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Dir = other
	if _, err = client.Run(ctx, cfg); !errors.Is(err, client.ErrOtherFiles) || !strings.Contains(fmt.Sprint(err), "weather.csv") {
		t.Errorf("with another digit in %s: %v", path, err)
	}
}

// weather returns the name of the first file of weather.
func (r *resumed) weather(t *testing.T) string {
	t.Helper()
	names, err := fs.Glob(os.DirFS(r.data.dir), "*/weather.csv")
	if err != nil || len(names) == 0 {
		t.Error(names, err)
		return ""
	}
	return names[0]
}

// rewrite writes all files of a dataset in another form.
func (d *dataset) rewrite(t *testing.T, f form) {
	t.Helper()
	a, err := known().Find(d.analysis)
	if err != nil {
		t.Fatal(err)
	}
	for s := range a.Streams {
		paths, err := filepath.Glob(filepath.Join(d.dir, a.Streams[s].Files))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no file of stream %s: %v", a.Streams[s].Name, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f.write(t, path, text)
		}
	}
}
