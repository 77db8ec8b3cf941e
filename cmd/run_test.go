package cmd

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// answers is the document that --json prints, without the session's id.
type answers struct {
	Analysis string
	Session  string
	Queries  map[string]struct {
		Columns []string
		Rows    [][]any
	}
	Rejected map[string]any
}

// parse accepts JSON only, and keeps numbers as they are written.
func parse(t *testing.T, text string) answers {
	t.Helper()
	var a answers
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&a); err != nil {
		t.Fatalf("standard output is not JSON: %v\n%.300s", err, text)
	}
	if d.More() {
		t.Fatalf("there is more than JSON on standard output: %.300s", text)
	}
	return a
}

// expected runs the analysis in this process, without network, log, or replicas.
func expected(t *testing.T, dir string) answers {
	t.Helper()
	found, err := local.Run(bikes.New(), os.DirFS(dir), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := found.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(b))
}

func same(t *testing.T, got, want answers) {
	t.Helper()
	if len(got.Queries) != 3 || got.Analysis != "bikes" || len(got.Session) != 36 {
		t.Fatalf("analysis %q, session %q, %d queries", got.Analysis, got.Session, len(got.Queries))
	}
	if !reflect.DeepEqual(got.Queries, want.Queries) {
		t.Errorf("the answers differ:\ngot  %.500v\nwant %.500v", got.Queries, want.Queries)
	}
	if !reflect.DeepEqual(got.Rejected, want.Rejected) {
		t.Errorf("the rejected rows differ:\ngot  %.500v\nwant %.500v", got.Rejected, want.Rejected)
	}
}

func TestD1_RunGivesTheSameAnswersInEveryShape(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := data(t, "20000")
	want := expected(t, dir)
	for _, shape := range []string{
		"", "--sockets tcp --lanes 2", "--transport tcp --split-parsers --replicas joiner=3,aggregator=1 --chunk 16KiB",
		"--replicas all=2 --set limits.window=64KiB --set limits.chunk=64KiB",
	} {
		t.Run(shape, func(t *testing.T) {
			r := must(t, append([]string{"run", "bikes", "--data", dir, "--json"}, strings.Fields(shape)...)...)
			same(t, parse(t, r.out), want)
			if !strings.Contains(r.err, "trips: sent") || !strings.Contains(r.err, "bikes finished in") || strings.Contains(r.err, "died") {
				t.Errorf("standard error: %s", r.err)
			}
		})
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRunPrintsTablesAndWritesFiles(t *testing.T) {
	dir, out := data(t, "20000"), filepath.Join(t.TempDir(), "new", "answers")
	want := expected(t, dir)
	r := must(t, "run", "bikes", "--data", dir, "--out", out, "--quiet")
	for _, text := range []string{"rain: ", "doubled: ", "far: ", "average_duration_sec", "trips: 40 rows rejected"} {
		if !strings.Contains(r.out, text) {
			t.Errorf("%q is missing in\n%s", text, r.out)
		}
	}
	for _, line := range strings.Split(r.out, "\n") {
		if strings.ContainsFunc(line, func(c rune) bool { return c < ' ' }) {
			t.Errorf("control characters in %q", line)
		}
	}
	if !strings.HasPrefix(r.err, "3 files written to "+out+"\nweather: 17 rows rejected\n") ||
		!strings.Contains(r.err, "montreal/trips.csv   501  ") {
		t.Errorf("with --quiet, standard error holds %q", r.err)
	}
	for name, q := range want.Queries {
		f, err := os.Open(filepath.Join(out, name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		_ = f.Close()
		if err != nil || len(rows) != len(q.Rows)+1 || !reflect.DeepEqual(rows[0], q.Columns) {
			t.Fatalf("%s.csv has %d rows under %v, %v; want %d under %v", name, len(rows)-1, rows[0], err, len(q.Rows), q.Columns)
		}
		for i, row := range q.Rows {
			for c, v := range row {
				if fmt.Sprint(v) != rows[i+1][c] {
					t.Errorf("%s.csv, row %d: %q, want %v", name, i+1, rows[i+1][c], v)
				}
			}
		}
	}
}

func TestParamsReachTheAnalysis(t *testing.T) {
	dir := data(t, "20000")
	few := parse(t, must(t, "run", "bikes", "--data", dir, "--json", "--param", "rain_mm=60").out)
	many := parse(t, must(t, "run", "bikes", "--data", dir, "--json", "-p", "rain_mm=1", "-p", "min_km=1000").out)
	if a, b := len(few.Queries["rain"].Rows), len(many.Queries["rain"].Rows); a >= b {
		t.Errorf("%d days with more than 60 mm, %d with more than 1 mm", a, b)
	}
	if n := len(many.Queries["far"].Rows); n != 0 {
		t.Errorf("%d stations are further than 1000 km", n)
	}
}

// slow makes an upload take seconds, so that tests can act during the upload.
var slow = []string{"--lanes", "1", "--chunk", "512"}

// started calls run in the background, and returns when its nodes are up and data flows.
func started(t *testing.T, ctx context.Context, args ...string) (dir string, done chan result) {
	t.Helper()
	dir, done = t.TempDir(), make(chan result, 1)
	args = append(append([]string{"run", "bikes", "--dir", dir}, args...), slow...)
	go func() { done <- postaUntil(ctx, context.Background(), args...) }()
	await.Until(t, "the nodes have their pid files", func() bool {
		for _, node := range []string{"input-1", "aggregator-1", "aggregator-2", "reducer-1", "output-1"} {
			if pidOf(dir, node) == 0 {
				return false
			}
		}
		return true
	})
	time.Sleep(300 * time.Millisecond) // somewhere in the upload: any moment is as good
	return dir, done
}

func pidOf(dir, node string) int {
	b, err := os.ReadFile(filepath.Join(dir, "pids", node))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}

// TestD1_NodesThatAreKilledChangeNothing: one of the files is a pipe, which gets a part of its rows for each node that is killed. So the
// session runs until the last node is back, however fast the machine is.
func TestD1_NodesThatAreKilledChangeNothing(t *testing.T) {
	from := data(t, "20000")
	want := expected(t, from)
	killed := []string{"aggregator-1", "input-1", "aggregator-2", "reducer-1", "output-1"}
	feed := fed(t, filepath.Join(from, "montreal", "trips.csv"), len(killed)+1)
	dir, done := started(t, context.Background(), "--data", from, "--json")
	for _, node := range killed {
		eaten := feed()
		pid := pidOf(dir, node)
		if pid == 0 {
			t.Fatalf("%s has no pid file", node)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		await.Until(t, node+" comes back", func() bool { now := pidOf(dir, node); return now != 0 && now != pid })
		select {
		case <-eaten:
		case r := <-done:
			t.Fatalf("it ends before it has all rows: exit code %d, %s", r.code, r.err)
		}
	}
	<-feed()
	r := <-done
	if r.code != exit.OK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	same(t, parse(t, r.out), want)
	if n := strings.Count(r.err, "died: signal: killed; starting it again at once"); n != len(killed) {
		t.Errorf("%d deaths of %d are told:\n%s", n, len(killed), r.err)
	}
}

func TestCtrlCCancelsAndCleansUp(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(context.Background())
	dir, done := started(t, ctx, "--data", data(t, "200000"))
	pid := pidOf(dir, "aggregator-1")
	interrupt(exit.ErrInterrupted)
	r := <-done
	if r.code != exit.Interrupted || !strings.HasSuffix(r.err, "posta: interrupted\n") || r.out != "" {
		t.Fatalf("exit code %d, %q, %q", r.code, r.err, r.out)
	}
	if pidOf(dir, "aggregator-1") != 0 || syscall.Kill(pid, 0) == nil {
		t.Errorf("aggregator-1, process %d, is still there", pid)
	}
}

func TestATimeoutIsReported(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r := posta(t, append([]string{"run", "bikes", "--data", data(t, "200000"), "--timeout", "100ms"}, slow...)...)
	if r.code != exit.Failed || !strings.Contains(r.err, "--timeout 100ms is over") || !strings.Contains(r.err, "the nodes' logs are in ") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}

// TestNodesDoNotOutliveARunThatIsKilled: a run that gets SIGKILL cannot stop its nodes, so the kernel has to.
func TestNodesDoNotOutliveARunThatIsKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only Linux ties children to their parents")
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], append([]string{"run", "bikes", "--dir", dir, "--data", data(t, "200000")}, slow...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, n := range []string{"input-1", "aggregator-1", "aggregator-2", "reducer-1", "output-1"} {
		await.Until(t, n+" has its pid file", func() bool { return pidOf(dir, n) != 0 })
		pids = append(pids, pidOf(dir, n))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	for _, pid := range pids {
		await.Until(t, fmt.Sprintf("process %d is gone", pid), func() bool { return gone(pid) })
	}
}

// gone reports whether a process has ended; a zombie counts as ended.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestANodeThatCannotStartIsNamedWithItsReason(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "cluster"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cluster", "aggregator-2"), []byte("in the way"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := posta(t, "run", "bikes", "--data", data(t, "10"), "--dir", dir)
	last := r.err[strings.LastIndex(strings.TrimSpace(r.err), "\n")+1:]
	if r.code != exit.Failed || !strings.Contains(last, "node aggregator-2 dies as soon as it is started: posta: ") ||
		!strings.Contains(last, "aggregator-2.log") {
		t.Errorf("exit code %d, and the last line is %s", r.code, last)
	}
}

func TestVerboseNamesProcesses(t *testing.T) {
	r := must(t, "run", "bikes", "--data", data(t, "10"), "-v", "--json")
	if n := strings.Count(r.err, " started, process "); n != 5 || !strings.Contains(r.err, "ready after") {
		t.Errorf("%d processes are named:\n%s", n, r.err)
	}
}

// TestSignalsEndARunInOrder: a process of its own gets real signals.
func TestSignalsEndARunInOrder(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], append([]string{"run", "bikes", "--dir", dir, "--data", data(t, "200000")}, slow...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the nodes have their pid files", func() bool {
		for _, node := range []string{"input-1", "aggregator-1", "aggregator-2", "reducer-1", "output-1"} {
			if pidOf(dir, node) == 0 {
				return false
			}
		}
		return true
	})
	pid := pidOf(dir, "output-1")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code shows the result
	if code := cmd.ProcessState.ExitCode(); code != exit.Interrupted || !gone(pid) {
		t.Errorf("run: exit code %d, its node is gone: %v", code, gone(pid))
	}

}

func TestN5_ANodeDrainsAtSIGTERM(t *testing.T) {
	k := newTestCluster(t)
	k.write(topology.Variant{IPCDir: temp.Sockets(t)}) // a node that is started by hand needs a host with an address
	node := exec.Command(os.Args[0], "node", "reducer-1", "-f", k.file)
	var said await.Log
	node.Stderr = &said
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the node runs", func() bool { return strings.Contains(said.String(), "msg=running") })
	if err := node.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = node.Wait()
	if code := node.ProcessState.ExitCode(); code != exit.OK {
		t.Errorf("a node that is told to go ends with exit code %d: %s", code, said.String())
	}
}
