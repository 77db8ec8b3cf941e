package bench

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestStepOf uses stacks as Go's profiler writes them.
func TestStepOf(t *testing.T) {
	const exec, operators = "posta.dev/posta/analyses/sql/exec.", "posta.dev/posta/analyses/sql/exec/operators."
	for _, x := range []struct {
		want, stage string
		functions   []string
	}{
		{"read", "input", []string{"syscall.pread", "os.(*File).ReadAt", "posta.dev/posta/nodes/inplace.(*opened).Read"}},
		{"read", "input", []string{"posta.dev/posta/rows/csv.endsAVX2", "posta.dev/posta/rows/csv.(*Cutter).fill"}},
		{"decode", "input", []string{"runtime.memmove", "posta.dev/posta/rows/csv.(*Run).find", exec + "(*runReader).fill"}},
		{"decode", "input", []string{"posta.dev/posta/client/source/parquet.(*column).take"}},
		{"filter", "input", []string{"posta.dev/posta/analyses/sql/eval.(*ints).eval", exec + "(*worker).pass", exec + "(*worker).take"}},
		{"filter", "input", []string{"posta.dev/posta/analyses/sql/eval.(*ints).eval", exec + "(*worker).compute", exec + "(*worker).after"}},
		{"fold", "input", []string{"posta.dev/posta/analyses/sql/eval.(*ints).eval", exec + "(*worker).compute", exec + "(*worker).project"}},
		{"fold", "input", []string{"posta.dev/posta/analyses/sql/eval.(*ints).eval", exec + "(*worker).aggregate", exec + "(*worker).group"}},
		{"fold", "input", []string{"runtime.mallocgc", "posta.dev/posta/rows/fold.(*Table).Row", exec + "(*worker).group"}},
		{"merge", "aggregator", []string{"runtime.mallocgc", "posta.dev/posta/rows/fold.(*Table).Merge"}},
		{"finish", "reducer", []string{"posta.dev/posta/rows/fold.(*Table).Row", "posta.dev/posta/nodes/internal/reducer.(*Reducer).Take"}},
		{"order", "reducer", []string{"slices.SortFunc", "posta.dev/posta/analyses/sql/values.Sort", operators + "(*Executor).Run"}},
		{"join", "input", []string{"runtime.mapaccess2_faststr", operators + "(*join).partner", exec + "(*worker).after"}},
		{"log", "output", []string{"syscall.Write", "os.(*File).Write", "posta.dev/posta/wal.(*segmentWriter).put"}},
		{"link", "reducer", []string{"posta.dev/posta/zmqx.(*transfer).call"}},
		{"print", "client", []string{"strconv.AppendInt", "posta.dev/posta/bench.reportAnswer"}},
		{"plan", "client", []string{"posta.dev/posta/analyses/sql/eval.(*function).eval", "posta.dev/posta/analyses/sql/optimize.all"}},
		{"collector", "input", []string{"runtime.scanobject", "runtime.gcBgMarkWorker"}},
		{noStep, "input", []string{"posta.dev/posta/topology.Load", "main.main", "runtime.main"}},
		{noStep, "input", nil},
	} {
		if got := stepOf(&stack{functions: x.functions}, x.stage); got != x.want {
			t.Errorf("%s, %q: %s, want %s", x.stage, x.functions, got, x.want)
		}
	}
}

// TestSteps_TheProgramHasTheseFunctions: work of a function that gets another name would be "other" without notice.
func TestSteps_TheProgramHasTheseFunctions(t *testing.T) {
	program, err := os.ReadFile(plainPosta(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range steps {
		for _, name := range x.of {
			own := strings.Contains(name, "/") || slices.Contains([]string{"protocol.", "wal.", "nodes.committer", "link.", "zmqx.", "query.",
				"bench.reportAnswer", "client.(*Answer)"}, name)
			if own {
				name = "posta.dev/posta/" + name
			}
			if !bytes.Contains(program, []byte(name)) {
				t.Errorf("%s: no function is called %s…", x.name, name)
			}
		}
	}
}

// TestStepMeasures_AddUp: all steps together are all of the time, and the figures are per row.
func TestStepMeasures_AddUp(t *testing.T) {
	all := stepMeasures(map[string]time.Duration{"read": 3000, "fold": 5000, noStep: 2000}, 100)
	got := map[string]float64{}
	for _, m := range all {
		got[m.Name] = m.Value
	}
	if got["read"] != 30 || got["fold"] != 50 || got[noStep] != 20 || got["all"] != 100 || len(all) != len(steps)+1 {
		t.Errorf("%+v", all)
	}
}
