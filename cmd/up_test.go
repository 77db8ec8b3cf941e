package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/chaos"
	"posta.dev/posta/cmd/internal/cluster"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/medic/process"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/natstest"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// testCluster is a cluster that posta up starts, and that posta down stops at the end of the test.
type testCluster struct {
	t    *testing.T
	dir  string
	file string
}

func newTestCluster(t *testing.T) *testCluster {
	t.Helper()
	k := &testCluster{t: t, dir: t.TempDir()}
	k.file = filepath.Join(k.dir, "topology.toml")
	k.write(topology.Variant{Settings: map[string]string{"limits.drain": "4s"}})
	t.Cleanup(func() {
		if r := k.call("down"); r.code != exit.OK {
			t.Errorf("down: exit code %d, %s", r.code, r.err)
		}
	})
	return k
}

// write writes the topology. A shared machine may stand still for a second or two, so medics wait longer than that before they take a
// silent process for dead. With the default they would rightly restart processes that no test has killed.
func (k *testCluster) write(v topology.Variant) {
	k.t.Helper()
	settings := map[string]string{"medics.suspect_after": "4s"}
	maps.Copy(settings, v.Settings)
	v.Settings = settings
	text, err := topology.Generate(v)
	if err == nil {
		err = os.WriteFile(k.file, []byte(text), 0o644)
	}
	if err != nil {
		k.t.Fatal(err)
	}
}

func (k *testCluster) call(command string, args ...string) result {
	k.t.Helper()
	return posta(k.t, append([]string{command, "-f", k.file}, args...)...)
}

func (k *testCluster) must(command string, args ...string) result {
	k.t.Helper()
	return must(k.t, append([]string{command, "-f", k.file}, args...)...)
}

func (k *testCluster) pid(node string) int { return pidOf(filepath.Join(k.dir, "cluster"), node) }

func (k *testCluster) kill(node string, sig syscall.Signal) {
	k.t.Helper()
	pid := k.pid(node)
	if pid == 0 { // pid 0 stands for every process of the group, including this test
		k.t.Fatalf("%s has no pid file", node)
	}
	if err := syscall.Kill(pid, sig); err != nil {
		k.t.Fatal(err)
	}
}

// killMedics kills all medics, round after round until none is left, because a living medic starts the others. The last round finds no
// process, so all were dead when it began. A process counts as dead when it is gone, not when it has got a signal.
func (k *testCluster) killMedics() {
	k.t.Helper()
	await.Until(k.t, "no medic is left", func() bool {
		none := true
		for _, m := range []string{"medic-1", "medic-2", "medic-3"} {
			pid := k.pid(m)
			if pid == 0 || gone(pid) {
				continue
			}
			none = false
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
			await.Until(k.t, m+" is gone", func() bool { return gone(pid) })
		}
		return none
	})
}

// statusView is the part of what status --json prints that the tests look at.
type statusView struct {
	Cluster string
	Nodes   []struct {
		Node, State string
		PID         int `json:"pid"`
		Incarnation int
	}
	Leader     string
	Generation int
	Medics     []struct {
		Medic, State string
		Incarnation  int
	}
	Incidents []struct {
		Node                  string
		Restarts, Incarnation int
		Open                  bool
	}
}

func (k *testCluster) status() (v statusView) {
	k.t.Helper()
	var r result
	await.Until(k.t, "status hears a node", func() bool { r = k.call("status", "--json"); return r.code != exit.NoCluster })
	if r.code != exit.OK {
		k.t.Fatalf("status: exit code %d, %s", r.code, r.err)
	}
	if err := json.Unmarshal([]byte(r.out), &v); err != nil {
		k.t.Fatalf("%v: %s", err, r.out)
	}
	return v
}

// shows waits until posta status prints what the test expects. While a process stands still, status hears it too late, and shows it as
// silent.
func (k *testCluster) shows(what string, is func(out string) bool, args ...string) {
	k.t.Helper()
	var r result
	defer func() {
		if k.t.Failed() {
			k.t.Logf("posta status: exit code %d, %s%s", r.code, r.out, r.err)
		}
	}()
	await.Until(k.t, "posta status shows "+what, func() bool {
		r = k.call("status", args...)
		return r.code == exit.OK && is(r.out)
	})
}

// settled waits until all nodes run, all medics are heard, and one of them leads.
func (k *testCluster) settled() (v statusView) {
	k.t.Helper()
	await.Until(k.t, "all nodes run, and a medic leads all others", func() bool {
		v = k.status()
		for _, n := range v.Nodes {
			if n.State != "running" {
				return false
			}
		}
		for _, m := range v.Medics {
			if leads := m.Medic == v.Leader; m.State != map[bool]string{true: "leading", false: "following"}[leads] {
				return false
			}
		}
		return v.Leader != "" || len(v.Medics) == 0
	})
	return v
}

func TestUpIsIdempotentAndDownStopsWhatItSays(t *testing.T) {
	k := newTestCluster(t)
	if r := k.must("up"); !strings.Contains(r.err, "cluster posta is up after ") || !strings.Contains(r.err, "7 nodes, 3 medics") ||
		r.out != "" {
		t.Errorf("up says %q, %q", r.out, r.err)
	}
	before := k.settled()
	r := k.must("up", "--json")
	var up cluster.UpJSON
	if err := json.Unmarshal([]byte(r.out), &up); err != nil || up.Cluster != "posta" || len(up.Nodes) != 7 || len(up.Medics) != 3 ||
		up.Started != 0 || up.Logs == "" ||
		!strings.Contains(r.err, "is up already") {
		t.Errorf("a second up says %v, %q, %q", err, r.out, r.err)
	}
	after := k.settled()
	if len(after.Nodes) != 7 || !reflect.DeepEqual(before, after) {
		t.Errorf("a second up changed something:\n%v\n%v", before, after)
	}
	for _, n := range after.Nodes {
		if n.State != "running" || n.Incarnation != 1 || n.PID != k.pid(n.Node) {
			t.Errorf("%+v; its pid file says %d", n, k.pid(n.Node))
		}
	}
	k.shows("7 of 7 nodes", func(out string) bool {
		return strings.Contains(out, "posta: 7 of 7 nodes up\n") && strings.Count(out, "running") == 7
	})
	r = k.must("down", "--json")
	var down cluster.DownJSON
	if err := json.Unmarshal([]byte(r.out), &down); err != nil || down.Cluster != "posta" || len(down.Nodes) != 7 || len(down.Medics) != 3 ||
		len(down.Killed) != 0 ||
		!strings.Contains(r.err, "is down after ") || !strings.Contains(r.err, "stopped 7 nodes and 3 medics") ||
		strings.Contains(r.err, "killed") {
		t.Errorf("down says %v, %q, %q", err, r.out, r.err)
	}
	for _, n := range after.Nodes {
		if !gone(n.PID) {
			t.Errorf("%s, process %d, is still there", n.Node, n.PID)
		}
	}
	if r := k.call("status"); r.code != exit.NoCluster || r.out != "" || !strings.Contains(r.err, "start it with `posta up -f ") {
		t.Errorf("status of nobody: exit code %d, %s%s", r.code, r.out, r.err)
	}
	if r := k.must("down"); !strings.Contains(r.err, "nothing was running") {
		t.Errorf("a second down says %q", r.err)
	}
}

func TestM5_NodesAndMedicsComeBack(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	began := k.settled() // as a rule medic-3 leads; if its process stands still when it begins, another one does
	leader := began.Leader
	for i, node := range []string{"joiner-1", leader} {
		before := k.pid(node)
		k.kill(node, syscall.SIGKILL)
		await.Until(t, "the medics start "+node+" again", func() bool { now := k.pid(node); return now != 0 && now != before })
		// If a leader dies between a start and its entry, the journal does not report that start.
		await.Until(t, "the journal reports "+node, func() bool { v := k.status(); return len(v.Incidents) > i && !v.Incidents[i].Open })
	}
	k.must("up") // returns when all are heard
	var v statusView
	await.Until(t, "both incidents are over", func() bool {
		v = k.settled()
		return len(v.Incidents) == 2 && !v.Incidents[0].Open && !v.Incidents[1].Open
	})
	if v.Nodes[1].Node != "joiner-1" || v.Nodes[1].Incarnation != 2 || v.Nodes[2].Incarnation != 1 {
		t.Errorf("after one death: %+v", v.Nodes)
	}
	// The highest that is left leads next. Only if medic-3 began too late to lead, it listens at first, and another one may be faster.
	if v.Leader == leader || leader == "medic-3" && v.Leader != "medic-2" || v.Generation != began.Generation+1 || len(v.Medics) != 3 {
		t.Errorf("%s led in generation %d; after its death %s leads in generation %d: %+v", leader, began.Generation, v.Leader, v.Generation,
			v.Medics)
	}
	for _, m := range v.Medics {
		if want := map[bool]int{true: 2, false: 1}[m.Medic == leader]; m.Incarnation != want {
			t.Errorf("%s has incarnation %d, want %d", m.Medic, m.Incarnation, want)
		}
	}
	for i, node := range []string{"joiner-1", leader} {
		if x := v.Incidents[i]; x.Node != node || x.Restarts != 1 || x.Incarnation != 2 {
			t.Errorf("incident %d is told as %+v", i+1, x)
		}
	}
	k.shows("the leader", func(out string) bool {
		return strings.Contains(out, fmt.Sprintf("3 of 3 medics up, %s leads in generation %d\n", v.Leader, v.Generation)) &&
			strings.Count(out, "joiner-1") == 2
	})
}

// TestM9_AProcessThatNobodyNotedDoesNothing: its parent was killed right after the fork, so posta down would not find it, and posta up
// would start a second one over the same data.
func TestM9_AProcessThatNobodyNotedDoesNothing(t *testing.T) {
	k := newTestCluster(t)
	k.write(topology.Variant{IPCDir: temp.Sockets(t)}) // a node that is started by hand needs a host with an address
	for _, args := range [][]string{{"node", "joiner-1"}, {"medic", "medic-1"}} {
		waits, gate, err := os.Pipe()
		if err == nil {
			err = gate.Close() // as the kernel closes it for a process that is killed
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], append(args, "-f", k.file)...)
		cmd.Env, cmd.ExtraFiles = append(os.Environ(), process.GateVar+"=3"), []*os.File{waits}
		said, err := cmd.CombinedOutput()
		_ = waits.Close()
		if code := cmd.ProcessState.ExitCode(); err == nil || code != exit.Failed ||
			!strings.Contains(string(said), process.ErrUnrecorded.Error()) {
			t.Errorf("%v: exit code %d, %s", args, code, said)
		}
		if exists(filepath.Join(k.dir, "cluster", args[1])) {
			t.Errorf("%v: it has opened its data", args)
		}
	}
}

func TestDownKillsHungNodesAndFindsThoseThatLeftTheFile(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	k.killMedics()
	k.kill("output-1", syscall.SIGSTOP)
	joiner := k.pid("joiner-2")
	k.write(topology.Variant{IPCDir: temp.Sockets(t), Replicas: map[string]int{"joiner": 1},
		Settings: map[string]string{"limits.drain": "4s"}})
	r := k.must("down")
	if !strings.Contains(r.err, "stopped 7 nodes") || !strings.Contains(r.err, ", of which output-1 had to be killed") {
		t.Errorf("down says %q", r.err)
	}
	if !gone(joiner) {
		t.Error("joiner-2, which the new file does not have, still runs")
	}
}

func TestM9_MedicsLeaveAClusterThatIsDownAlone(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	stray := k.pid("medic-1")
	k.kill("medic-1", syscall.SIGSTOP)
	if r := k.must("down"); !strings.Contains(r.err, "and 3 medics") {
		t.Errorf("down says %q", r.err)
	}
	if !gone(stray) {
		t.Error("medic-1 still runs")
	}
	time.Sleep(300 * time.Millisecond)
	if r := k.must("down"); !strings.Contains(r.err, "nothing was running") {
		t.Errorf("somebody came back: %q", r.err)
	}
}

func TestChaosPrintsItsFaultsAndTheJournal(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	v := k.settled()
	r := k.must("chaos", "--duration", "1500ms", "--every", "1s", "--fault", "kill", "--seed", "7", "joiner-1", "medic-1")
	for _, part := range []string{"  kill ", fmt.Sprintf(": restarted by %s (generation %d) in ", v.Leader, v.Generation),
		": at work again, incarnation 2", "the journal reports "} {
		if !strings.Contains(r.out, part) {
			t.Errorf("%q is not in\n%s", part, r.out)
		}
	}
	var told chaos.ChaosJSON
	r = k.must("chaos", "--duration", "100ms", "--every", "1m", "--fault", "pause", "--seed", "7", "--json", "joiner-1")
	if err := json.Unmarshal([]byte(r.out), &told); err != nil || told.Seed != 7 || len(told.Faults) != 1 ||
		told.Faults[0].Node != "joiner-1" || !told.Faults[0].Done ||
		told.Faults[0].ForMS == 0 || len(told.Missing) != 0 || !strings.Contains(r.err, "pause joiner-1, process ") {
		t.Errorf("%v: %s, and on standard error %s", err, r.out, r.err)
	}
	for _, args := range [][]string{
		{"nobody-1"}, {"--fault", "flood"}, {"--fault", "cut"}, {"--every", "0s"}, // only --docker can cut
		{"--docker", "nobody-1"}, {"--docker", "--fault", "flood"}, {"--docker", "--host", "nowhere"},
	} {
		if r := k.call("chaos", args...); r.code != exit.Usage {
			t.Errorf("chaos %v: exit code %d, %s", args, r.code, r.err)
		}
	}
}

func TestUpRefusesAFileThatWasChangedMeanwhile(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	text, err := os.ReadFile(k.file)
	if err == nil {
		err = os.WriteFile(k.file, append(text, "\n# changed\n"...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r := k.call("up"); r.code != exit.Failed || !strings.Contains(r.err, "posta down, then posta up") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
}

func TestUpNamesTheNodeThatCannotStart(t *testing.T) {
	k := newTestCluster(t)
	if err := os.MkdirAll(filepath.Join(k.dir, "cluster"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.dir, "cluster", "joiner-2"), []byte("in the way"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := k.call("up"); r.code != exit.Failed || !strings.Contains(r.err, "node joiner-2 dies as soon as it is started: ") ||
		strings.Count(r.err, "\n") != 1 {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
}

func TestSessionsOfAKeptCluster(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	dir := data(t, "20000")
	want := expected(t, dir)
	same(t, parse(t, k.must("submit", "bikes", "--data", dir, "--json").out), want)
	await.Until(t, "no session is left of one that was closed", func() bool { // a node that stands still is not heard in time
		r := k.must("sessions")
		return r.out == "" && r.err == "no sessions\n"
	})

	id := strings.TrimSpace(k.must("submit", "bikes", "--data", dir, "--detach").out)
	same(t, parse(t, k.must("results", id, "--json").out), want)
	var list struct {
		Sessions []struct {
			Session, Analysis, State string
			Nodes                    []struct{ Node, State string }
		}
	}
	await.Until(t, "the session is listed", func() bool {
		r := k.must("sessions", "--json")
		if err := json.Unmarshal([]byte(r.out), &list); err != nil || len(list.Sessions) > 1 {
			t.Fatalf("%v: %s", err, r.out)
		}
		return len(list.Sessions) == 1 && list.Sessions[0].State == "done"
	})
	if s := list.Sessions[0]; s.Session != id || s.Analysis != "bikes" || s.State != "done" || len(s.Nodes) == 0 {
		t.Errorf("the session is listed as %+v", s)
	}
	if r := k.must("sessions"); !strings.Contains(r.out, id) || !strings.Contains(r.out, "done") {
		t.Errorf("sessions prints %s", r.out)
	}
	// The output, which has the answers, stands still for longer than one request to it may take. What follows shows that no input was told to
	// cancel.
	output := k.pid("output-1")
	k.kill("output-1", syscall.SIGSTOP)
	time.AfterFunc(2500*time.Millisecond, func() { _ = syscall.Kill(output, syscall.SIGCONT) })
	if r := k.call("cancel", id, "--patience", "1m"); r.code != exit.Finished || !strings.Contains(r.err, "is finished") {
		t.Errorf("cancelling what is finished: exit code %d, %s", r.code, r.err)
	}
	// The next heartbeat of an output tells an input that a session is finished.
	await.Until(t, "the session is finished at its input", func() bool {
		return k.call("submit", "bikes", "--data", dir, "--session", id).code != exit.InUse
	})
	if r := k.call("submit", "bikes", "--data", dir, "--session", id); r.code != exit.Finished || strings.Count(r.err, "\n") != 1 {
		t.Errorf("running a session again that is finished: exit code %d, %s", r.code, r.err)
	}
	entry := k.entries()
	same(t, parse(t, must(t, "results", id, "--json", "--drop", "-e", entry[1]).out), want)
	if r := k.call("results", id); r.code != exit.Session || strings.Count(r.err, "\n") != 1 {
		t.Errorf("results that were dropped: exit code %d, %s", r.code, r.err)
	}
	if r := k.call("cancel", id); r.code != exit.Finished || !strings.Contains(r.err, "is finished and closed") {
		t.Errorf("cancelling what is closed: exit code %d, %s", r.code, r.err)
	}
	if r := k.call("submit", "bikes", "--data", dir, "--session", id); r.code != exit.Session || !strings.Contains(r.err, "closed") {
		t.Errorf("running a session again that was closed: exit code %d, %s", r.code, r.err)
	}
	if r := k.call("cancel", "6ba7b810-9dad-41d1-80b4-00c04fd430c8"); r.code != exit.Session || strings.Count(r.err, "\n") != 1 ||
		!strings.Contains(r.err, "no node knows") {
		t.Errorf("cancelling a session that nobody knows: exit code %d, %s", r.code, r.err)
	}
}

func (k *testCluster) entries() []string {
	t, err := topology.LoadWith(k.file, topology.Addresses{Local: "ipc:" + k.sockets()})
	if err != nil {
		k.t.Fatal(err)
	}
	return append(t.EntryPoints(), t.Outputs()...)
}

func TestCancelEndsTheSessionOfAnother(t *testing.T) {
	k := newTestCluster(t)
	k.write(topology.Variant{Settings: map[string]string{"limits.drain": "4s", "limits.sessions": "1", "limits.results": "2"}})
	k.must("up")
	const id = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
	// The command runs as a process of its own, because the flag package has variables that two calls in one process would share.
	cmd := exec.Command(os.Args[0], append([]string{"submit", "bikes", "-f", k.file, "--data", data(t, "200000"), "--session", id},
		slow...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	await.Until(t, "the session is listed", func() bool { return strings.Contains(k.must("sessions").out, id) })
	await.Until(t, "completion offers the session", func() bool {
		return slices.Contains(strings.Fields(k.must("cancel", "", completionFlag).out),
			id)
	})
	if r := k.must("cancel", "--json", id); !strings.Contains(r.err, "is cancelled") || r.out != `{"session":"`+id+`","cancelled":true}`+"\n" {
		t.Errorf("cancel says %q, %q", r.out, r.err)
	}
	_ = cmd.Wait() // the exit code shows the result
	last := said.String()[max(0, strings.LastIndex(said.String(), "posta: ")):]
	if cmd.ProcessState.ExitCode() != exit.Session || !strings.Contains(last, "cancelled") || strings.Count(last, "\n") != 1 {
		t.Errorf("its client ends with exit code %d: %s", cmd.ProcessState.ExitCode(), &said)
	}
	for range 3 { // an output keeps two results
		k.must("submit", "bikes", "-f", k.file, "--data", data(t, "2000"), "--detach")
	}
	await.Until(t, "the session makes room for newer ones", func() bool { return !strings.Contains(k.must("sessions").out, id) })
	if r := k.call("cancel", id); r.code != exit.Session || !strings.Contains(r.err, "is over") || !strings.Contains(r.err, "was cancelled") ||
		strings.Count(r.err, "\n") != 1 {
		t.Errorf("cancelling it again: exit code %d, %s", r.code, r.err)
	}
}

func TestStatusWatchesUntilCtrlC(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	ctx, interrupt := context.WithCancelCause(context.Background())
	defer interrupt(exit.ErrInterrupted)
	var out, said await.Log
	ended := make(chan int, 1)
	go func() {
		ended <- runWithin(ctx, context.Background(), program(), []string{"posta", "status", "-f", k.file, "--watch", "--json"},
			Console{In: strings.NewReader(""), Out: &out, Err: &said})
	}()
	await.Until(t, "two lines", func() bool { return strings.Count(out.String(), "\n") >= 2 })
	interrupt(exit.ErrInterrupted)
	r := result{<-ended, out.String(), said.String()}
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if r.code != exit.OK || len(lines) < 2 || strings.Contains(r.out, "\x1b") {
		t.Fatalf("exit code %d, %d lines: %s", r.code, len(lines), r.err)
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

// TestUp_ItsNATSServerIsKilledAndStartedAgain: after any fault of the server in the middle of a session, the nodes continue once it is
// back, and the answers are the same.
func TestUp_ItsNATSServerIsKilledAndStartedAgain(t *testing.T) {
	server := natstest.Start(t)
	k := newTestCluster(t)
	k.write(topology.Variant{IPCDir: temp.Sockets(t), Settings: map[string]string{
		"cluster.transport": topology.ViaNATS, "nats.url": server.URL(), "limits.drain": "4s",
	}})
	k.must("up")
	dir := data(t, "20000")
	want := expected(t, dir)
	trips := filepath.Join(dir, "montreal", "trips.csv")
	rows, err := os.ReadFile(trips)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(trips), syscall.Mkfifo(trips, 0o600)); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(trips, os.O_RDWR, 0) // the session runs until it is closed
	if err != nil {
		t.Fatal(err)
	}
	var feeding sync.WaitGroup
	t.Cleanup(func() {
		_ = pipe.Close() // it is closed already, unless the test failed
		feeding.Wait()
	})
	cmd := exec.Command(os.Args[0], append([]string{"submit", "bikes", "-f", k.file, "--data", dir, "--json"}, slow...)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	// duringUpload calls a function while a part of the rows has been uploaded, and returns when the pipe has taken all rows.
	duringUpload := func(do func()) {
		t.Helper()
		part := rows[:len(rows)/5]
		rows = rows[len(part):]
		fed := make(chan error, 1)
		feeding.Add(1)
		go func() {
			defer feeding.Done()
			_, err := pipe.Write(part)
			fed <- err
		}()
		do()
		select {
		case err := <-fed:
			if err != nil {
				t.Fatal(err)
			}
		case err := <-ended:
			t.Fatalf("the session was over before all rows were written: %v: %s", err, &said)
		}
	}
	duringUpload(func() {
		await.Until(t, "a session runs", func() bool { return strings.Contains(k.must("sessions").out, "bikes") })
	})
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGKILL} {
		duringUpload(func() {
			if err := server.Signal(sig); err != nil {
				t.Fatal(err)
			}
			time.Sleep(300 * time.Millisecond)
			server.Kill()
			natstest.Restart(t, server)
			time.Sleep(300 * time.Millisecond)
		})
	}
	if _, err := pipe.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatalf("%v: %s", err, &said)
	}
	same(t, parse(t, out.String()), want)
	if v := k.status(); len(v.Incidents) != 0 {
		t.Errorf("nodes that wait for the server were restarted: %+v", v.Incidents)
	}
}

// TestSubmitToAClusterWithoutItsBroker: posta up says that the cluster waits for its broker. posta submit fails at once, instead of waiting
// for frames that cannot travel.
func TestSubmitToAClusterWithoutItsBroker(t *testing.T) {
	k := newTestCluster(t)
	k.write(topology.Variant{IPCDir: temp.Sockets(t), Settings: map[string]string{
		"cluster.transport": topology.ViaNATS, "nats.url": "nats://127.0.0.1:1", "medics.replicas": "0",
	}})
	if r := k.must("up"); !strings.Contains(r.err, "nodes will wait, ") || !strings.Contains(r.err, "start the server") ||
		!strings.Contains(r.err, "is up after") {
		t.Errorf("up says %q", r.err)
	}
	r := k.call("submit", "bikes", "--data", data(t, "10"))
	if r.code != exit.Failed || r.out != "" || !strings.Contains(r.err, "NATS at nats://127.0.0.1:1: ") ||
		!strings.Contains(r.err, "start the server") {
		t.Errorf("exit code %d, %q, %q", r.code, r.out, r.err)
	}
}
