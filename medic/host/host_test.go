package host

import (
	"bufio"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/medic/core"
	"posta.dev/posta/test/await"
)

func TestM4_AnOldLeaderIsRefusedByEveryMedicOfTheHost(t *testing.T) {
	dir, f := t.TempDir(), newFake()
	mine, others := open(t, dir, f), open(t, dir, f)
	if r := mine.Execute(await.Soon(t), order(5, "medic-2", 1), nothing); r.Verdict != core.Done || r.PID != 101 {
		t.Fatalf("%+v", r)
	}
	expect(t, f, "start a-1")
	if err := others.Raise(await.Soon(t), core.Term{Gen: 6, Leader: "medic-3"}); err != nil {
		t.Fatal(err)
	}
	for _, o := range []core.Order{order(5, "medic-2", 2), order(6, "medic-1", 1)} {
		if r := mine.Execute(await.Soon(t), o, nothing); r.Verdict != core.Refused || r.Term != (core.Term{Gen: 6, Leader: "medic-3"}) {
			t.Errorf("order of %s in generation %d: %+v", o.Leader, o.Gen, r)
		}
	}
	expect(t, f)
	if r := mine.Execute(await.Soon(t), order(6, "medic-3", 1), func() core.Term {
		return core.Term{Gen: 7,
			Leader: "medic-1"}
	}); r.Verdict != core.Refused {
		t.Errorf("an order that its own medic knows to be outdated: %+v", r)
	}
	if r := open(t, dir, f).Execute(await.Soon(t), order(6, "medic-3", 2), nothing); r.Verdict != core.Refused {
		t.Errorf("after a restart of the medic: %+v", r)
	}
}

func TestM5_AnOrderStartsOneProcessOnAnyMedic(t *testing.T) {
	dir, f := t.TempDir(), newFake()
	var wg sync.WaitGroup
	reports := make([]core.Report, 6)
	for i := range reports {
		wg.Add(1)
		go func() {
			defer wg.Done()
			reports[i] = open(t, dir, f).Execute(await.Soon(t), order(1, "medic-3", 1), nothing)
		}()
	}
	wg.Wait()
	for _, r := range reports {
		if r.Verdict != core.Done || r.PID != 101 {
			t.Errorf("%+v", r)
		}
	}
	expect(t, f, "start a-1")
	o := order(1, "medic-3", 2)
	o.Silent = time.Hour
	if r := open(t, dir, f).Execute(await.Soon(t), o, nothing); r.Verdict != core.Found || r.PID != 101 {
		t.Errorf("a young process: %+v", r)
	}
	if r := open(t, dir, f).Execute(await.Soon(t), order(1, "medic-3", 3), nothing); r.Verdict != core.Done || r.Text != "signal: killed" {
		t.Errorf("one that was silent all its life: %+v", r)
	}
	expect(t, f, "kill a-1", "start a-1")
}

// An engine that is slow to list its containers makes no order too old: an order counts as begun when the host's lock
// is taken.
func TestM5_ASlowLookMakesNoOrderLate(t *testing.T) {
	f := newFake()
	f.look = 2100 * time.Millisecond
	h := open(t, t.TempDir(), f)
	n := uint64(1)
	for ; ; n++ {
		began := time.Now()
		o := order(1, "medic-3", n)
		o.Until = began.Add(2 * time.Second) // a machine that stands still takes the lock in time, too
		r := h.Execute(await.Soon(t), o, nothing)
		if r.Verdict == core.Done {
			break
		}
		if took := time.Since(began); took < f.look+time.Second { // else the machine stood still, and the order may have been late
			t.Fatalf("after %v: %+v", took, r)
		}
	}
	o := order(1, "medic-3", n+1)
	o.Until = time.Now().Add(-time.Millisecond)
	if r := h.Execute(await.Soon(t), o, nothing); r.Verdict != core.Late {
		t.Errorf("one that is late as it comes: %+v", r)
	}
}

func TestM5_AFailedStartIsReportedAndTheNextOrderTriesAgain(t *testing.T) {
	f := newFake()
	h := open(t, t.TempDir(), f)
	f.fail = errors.New("no room for a process")
	if r := h.Execute(await.Soon(t), order(1, "medic-3", 1), nothing); r.Verdict != core.Failed || !strings.Contains(r.Text, "no room") {
		t.Errorf("%+v", r)
	}
	if r := h.Execute(await.Soon(t), order(1, "medic-3", 1), nothing); r.Verdict != core.Done {
		t.Errorf("the same order, repeated: %+v", r)
	}
	expect(t, f, "start a-1")
}

func TestDownClosesTheHostAndUpOpensIt(t *testing.T) {
	f := newFake()
	h := open(t, t.TempDir(), f)
	if started, err := h.Up(await.Soon(t), []core.NodeID{"a-1", "b-1"}); err != nil || len(started) != 2 {
		t.Fatalf("%v, %v", started, err)
	}
	if started, err := h.Up(await.Soon(t), []core.NodeID{"a-1", "c-1"}); err != nil || len(started) != 1 {
		t.Fatalf("%v, %v", started, err)
	}
	f.acts()
	if err := h.Down(await.Soon(t)); err != nil {
		t.Fatal(err)
	}
	if r := h.Execute(await.Soon(t), order(9, "medic-3", 1), nothing); r.Verdict != core.Held {
		t.Errorf("%+v", r)
	}
	expect(t, f)
	if _, err := h.Up(await.Soon(t), nil); err != nil {
		t.Fatal(err)
	}
	if r := h.Execute(await.Soon(t), order(9, "medic-3", 2), nothing); r.Verdict != core.Done {
		t.Errorf("%+v", r)
	}
}

// A medic that hangs while it holds the lock would block all medics, including those that should restart it.
func TestM7_AMedicThatHangsWithTheLockIsKilledWithoutIt(t *testing.T) {
	dir, f := t.TempDir(), newFake()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holderVar+"="+dir)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "holding <nil>\n" {
		t.Fatalf("%q, %v", line, err)
	}
	f.alive["a-1"], f.alive["b-1"] = 1, 1 // in containers every process has pid 1
	f.kill = func(n core.NodeID) {
		if n == "a-1" {
			_ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
		}
	}
	h := open(t, dir, f)
	o := order(1, "medic-3", 1)
	o.Target, o.Until = "b-1", time.Now().Add(50*time.Millisecond)
	if r := h.Execute(await.Soon(t), o, nothing); r.Verdict != core.Late {
		t.Errorf("an order for somebody else: %+v", r)
	}
	expect(t, f)
	o = order(1, "medic-3", 2)
	o.Until = time.Now().Add(50 * time.Millisecond)
	if r := h.Execute(await.Soon(t), o, nothing); r.Verdict == core.Failed {
		t.Errorf("an order for the holder: %+v", r)
	}
	if did := f.acts(); len(did) == 0 || did[0] != "kill a-1" {
		t.Errorf("it did %v", did)
	}
	if r := h.Execute(await.Soon(t), order(1, "medic-3", 3), nothing); r.Verdict != core.Done {
		t.Errorf("afterwards: %+v", r)
	}
}

func TestM4_ADamagedFenceAdmitsNoLeader(t *testing.T) {
	dir, f := t.TempDir(), newFake()
	h := open(t, dir, f)
	if err := os.WriteFile(filepath.Join(dir, "local"), []byte("gener"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := h.Execute(await.Soon(t), order(9, "medic-3", 1), nothing); r.Verdict != core.Failed || !strings.Contains(r.Text, "damaged") {
		t.Errorf("%+v", r)
	}
	expect(t, f)
}

// If the clock was wrong (ahead) when a process was started, and was corrected since, the process is not protected for
// ever: ages are counted on the monotonic clock of this boot.
func TestM10_AHungTargetIsRestartedWhateverTheClockSaid(t *testing.T) {
	for what, at := range map[string]core.Instant{
		"in the future": {Boot: clock().Boot, Since: clock().Since + 24*time.Hour}, "in another boot": {Boot: "another", Since: clock().Since},
		"at no known time": {},
	} {
		dir, f := t.TempDir(), newFake()
		h := open(t, dir, f)
		f.alive["a-1"] = 7
		if err := h.writeStarted("a-1", core.Started{At: at}); err != nil {
			t.Fatal(err)
		}
		o := order(1, "medic-3", 1)
		o.Silent, o.Young = time.Minute, 50*time.Second
		if r := h.Execute(await.Soon(t), o, nothing); r.Verdict != core.Done {
			t.Errorf("a start %s: %+v", what, r)
		}
		o.N++
		if r := h.Execute(await.Soon(t), o, nothing); r.Verdict != core.Found {
			t.Errorf("a start just now, after one %s: %+v", what, r)
		}
	}
	const nap = 20 * time.Millisecond
	began := time.Now()
	a := clock()
	time.Sleep(nap)
	b := clock()
	if d := b.Since - a.Since; a.Boot == "" || a.Boot != b.Boot || d < nap || d > time.Since(began) {
		t.Errorf("the clock says %v, and %v later %v", a, time.Since(began), b)
	}
}

func TestR14_AnotherLifeOfTheLeaderIsRefusedByTheHost(t *testing.T) {
	dir, f := t.TempDir(), newFake()
	h := open(t, dir, f)
	o := order(5, "medic-3", 1)
	o.Life = 1<<64 - 1
	if r := h.Execute(await.Soon(t), o, nothing); r.Verdict != core.Done {
		t.Fatalf("%+v", r)
	}
	o.Life, o.N = 2, 2
	if r := open(t, dir, f).Execute(await.Soon(t), o, nothing); r.Verdict != core.Refused ||
		r.Term != (core.Term{Gen: 5, Leader: "medic-3", Life: 1<<64 - 1}) {
		t.Errorf("%+v", r)
	}
}

// Once a host's files are reserved, no order needs room on the disk: every file keeps its size.
func TestW5_OrdersNeedNoRoomOnTheDisk(t *testing.T) {
	dir, f := t.TempDir(), newFake()
	h := open(t, dir, f)
	if err := h.Reserve([]core.NodeID{"a-1"}); err != nil {
		t.Fatal(err)
	}
	if r := h.Execute(await.Soon(t), order(1, "medic-3", 1), nothing); r.Verdict != core.Done {
		t.Fatalf("%+v", r)
	}
	before := sizes(t, dir)
	for gen := range core.Generation(20) {
		o := order(1000*gen+2, "medic-3", 1)
		o.Silent, o.Young = 0, 0
		if r := h.Execute(await.Soon(t), o, nothing); r.Verdict != core.Done {
			t.Fatalf("%+v", r)
		}
	}
	if after := sizes(t, dir); !maps.Equal(before, after) {
		t.Errorf("before %v, after %v", before, after)
	}
}

func sizes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name()] = info.Size()
	}
	return all
}
