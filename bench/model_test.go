package bench

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/topology"
)

// handMade is computed by hand in the tests: 160 ns while rows are read, and 40 after that.
var handMade = []modelPart{
	{name: "parsing", cost: 120, most: 16},
	{name: "cutting", cost: 10, most: 1},
	{name: "loops", cost: 24, most: 2},
	{name: "runtime", cost: 6},
	{name: "reducer", cost: 8, most: 1, after: true},
	{name: "runtime of the reducer", cost: 32, after: true},
}

func TestPredict_ByHand(t *testing.T) {
	for _, x := range []struct {
		cores int
		want  float64
		first string
	}{
		{1, 200, ""},
		{4, 40 + 10, ""},
		{8, 20 + 8, "reducer"},       // after the rows: 40/8 is 5, and the reducer takes 8
		{16, 12 + 8, "reducer"},      // 160/16 is 10, the loops take 24/2; the reducer has 8, where 40/16 is 2.5
		{64, 12 + 8, "loops"},        // 12 in place of 2.5, 8 in place of 0.625
		{1_000_000, 12 + 8, "loops"}, // cutting has 10, parsing 120/16
	} {
		if got := predict(handMade, x.cores); math.Abs(got.perRow-x.want) > 1e-9 || got.first != x.first {
			t.Errorf("%d cores: %v, want %v and %q", x.cores, got, x.want, x.first)
		}
	}
}

// TestModelParts_MoreInputs: the work of inputs is shared by more of them, that of the reducer is not.
func TestModelParts_MoreInputs(t *testing.T) {
	measured := []modelProcess{
		{name: "input", replicas: 2, spent: map[string]time.Duration{"parsing": 300, "cutting": 60, modelLoop: 40, "end": 10, "runtime": 20}},
		{name: "reducer", replicas: 1, alone: true, after: true, spent: map[string]time.Duration{modelLoop: 50}},
	}
	got := modelParts(measured, 10, 3)
	want := []modelPart{
		{"input: parsing", 30, 16 * 6, false}, {"input: cutting", 6, 6, false}, {"input: end", 1, 6, true}, {"input: loop", 4, 6, false},
		{"input: runtime", 2, 0, false},
		{"reducer: loop", 5, 1, true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if answersAlone([]topology.Role{topology.Input, topology.Parser, topology.Joiner}) || !answersAlone([]topology.Role{topology.Output}) {
		t.Error("the stages of which a session has one are not told from the others")
	}
}

func TestPassesOn_OnlyRowsOfBags(t *testing.T) {
	for name, want := range map[string]bool{"bikes": false, "flights": true} {
		if s, err := workloadOf(name); err != nil || passesOn(s.analysis) != want {
			t.Errorf("%s: %v, %v", name, !want, err)
		}
	}
	bag, made := fold.Spec{Name: "bag", Merge: fold.Never}, fold.Spec{Name: "made", From: []string{"bag"}}
	if passesOn(&analyses.Analysis{Tables: []fold.Spec{bag, made}}) {
		t.Error("rows that wait for a join pass on")
	}
}

// TestKindOf uses stacks as Go's profiler writes them.
func TestKindOf(t *testing.T) {
	const nodes = "posta.dev/posta/nodes."
	for want, functions := range map[string][]string{
		"parsing": {"posta.dev/posta/rows/csv.(*Reader).Read", nodes + "(*preparing).add.func1"},
		"cutting": {"posta.dev/posta/rows/csv.lastEnd", "posta.dev/posta/nodes/inplace.(*Reader).begin.func1"},
		"decoding": {"posta.dev/posta/client/source/parquet.(*Cutter).Next",
			"posta.dev/posta/nodes/inplace.(*Reader).beginPart.func1"},
		"log":     {"internal/runtime/syscall.Syscall6", nodes + "committer", nodes + "(*node).run.gowrap1"},
		"sockets": {"internal/runtime/syscall.Syscall6", "posta.dev/posta/zmqx.(*socket).spawn.func1"},
		"end": {"posta.dev/posta/nodes/core.(*Core).more", "posta.dev/posta/nodes/core.(*Core).continueEndings", nodes + "(*node).run",
			"main.main", "runtime.main"},
		"loop":    {"posta.dev/posta/nodes/shell.(*Shell).Step", nodes + "(*node).run", "main.main", "runtime.main"},
		"runtime": {"runtime.scanobject", "runtime.gcBgMarkWorker"},
		"":        {"posta.dev/posta/topology.Load", "main.main", "runtime.main"},
	} {
		if got := kindOf(&stack{functions: functions}); got != want {
			t.Errorf("%q: %q, want %q", functions, got, want)
		}
	}
	if got := kindOf(&stack{functions: []string{"posta.dev/posta/nodes/role.NewTask.func1", "runtime.corostart"}}); got != "end" {
		t.Errorf("a task: %q", got)
	}
	client := []stack{{[]string{"fmt.Fprintf", writesAnswer, "runtime.main"}, 5}, {[]string{"posta.dev/posta/client.Run", "runtime.main"}, 7}}
	if got := clientParts(client); len(got) != 1 || got[modelLoop] != 7 {
		t.Errorf("the client: %v", got)
	}
	if kindOf(&stack{}) != "" {
		t.Error("a sample without a stack has a part")
	}
}

// TestKindOf_TheNodesHaveTheseGoroutines: a function that gets another name would move its work to another part without notice. The names
// are in the program.
func TestKindOf_TheNodesHaveTheseGoroutines(t *testing.T) {
	program, err := os.ReadFile(plainPosta(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range append(slices.Clone(modelKinds), modelKind{name: "client", within: []string{writesAnswer}}) {
		for _, name := range append(slices.Clone(k.begins), k.within...) {
			if !bytes.Contains(program, []byte(strings.TrimPrefix(name, "posta.dev/"))) {
				t.Errorf("%s: no function is called %s", k.name, name)
			}
		}
	}
}

// TestReadProfile_OfThisProcess: a loop that runs for some time is found in the profile, with the test that calls it.
func TestReadProfile_OfThisProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu.prof")
	const me = "posta.dev/posta/bench.spin"
	err := profiled(file, func() error { spin(400 * time.Millisecond); return nil })
	if err != nil {
		t.Fatal(err)
	}
	all, err := readProfile(file)
	if err != nil {
		t.Fatal(err)
	}
	spent := time.Duration(0)
	for _, s := range all {
		if slices.Contains(s.functions, me) {
			spent += s.spent
			if last := s.functions[len(s.functions)-1]; last != "testing.tRunner" && !strings.HasPrefix(last, "testing.(*T).Run.") {
				t.Errorf("it begins with %s", last)
			}
		}
	}
	if spent < 100*time.Millisecond || spent > 3*time.Second {
		t.Errorf("the loop took %v of %d stacks", spent, len(all))
	}
}

//go:noinline
func spin(cpu time.Duration) {
	for end := cpuTime() + cpu; cpuTime() < end; {
	}
}

// TestReadProfile_OfNonsense: no content makes it panic, and what is not a profile is an error.
func TestReadProfile_OfNonsense(t *testing.T) {
	var whole bytes.Buffer
	if err := pprof.StartCPUProfile(&whole); err != nil {
		t.Fatal(err)
	}
	spin(100 * time.Millisecond)
	pprof.StopCPUProfile()
	z, err := gzip.NewReader(&whole)
	if err != nil {
		t.Fatal(err)
	}
	var plain bytes.Buffer
	if _, err := plain.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	good := plain.Bytes()
	failed := 0
	for n := range good {
		if _, err := decodeProfile(good[:n]); err != nil {
			if failed++; !errors.Is(err, errProfile) {
				t.Fatalf("%d of %d bytes: %v", n, len(good), err)
			}
		}
		bad := bytes.Clone(good)
		bad[n] ^= 0x55
		_, _ = decodeProfile(bad) // it may be a profile of something else, and must not panic
	}
	if failed < len(good)/2 {
		t.Errorf("%d of %d beginnings of a profile are refused", failed, len(good))
	}
	file := filepath.Join(t.TempDir(), "x.prof")
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readProfile(file); !errors.Is(err, errProfile) {
		t.Errorf("a profile that is not packed: %v", err)
	}
}
