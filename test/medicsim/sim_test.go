package medicsim

import (
	"bytes"
	"flag"
	"io"
	"strings"
	"sync"
	"testing"

	"posta.dev/posta/test/simulator/mutants"
	allseeds "posta.dev/posta/test/simulator/seeds"
)

var (
	seed  = flag.Uint64("seed", 1, "first seed of TestSeeds")
	plain = flag.Bool("plain", false,
		"no loop of a node is busy or hangs: rare bugs are searched in seeds that have shown them before there were such faults")
	unaimed = flag.Bool("unaimed", false, "no faults are aimed: seeds from before there were aims tell the stories that they told")
	steady  = flag.Bool("steady", false,
		"medics tick as often while all is well as at other times: seeds from before they paused tell the stories that they told")
	seeds = flag.Int("seeds", 200, "how many seeds TestSeeds runs")
)

func TestSeeds(t *testing.T) {
	total := Report{Injected: map[string]int{}}
	var mu sync.Mutex // total
	allseeds.Each(t, *seed, *seeds, func(seed uint64) {
		r := run(t, seed)
		mu.Lock()
		defer mu.Unlock()
		total.Events += r.Events
		total.Simulated += r.Simulated
		total.Elections += r.Elections
		total.Kills += r.Kills
		total.Orders += r.Orders
		total.Refused += r.Refused
		for k, n := range r.Injected {
			total.Injected[k] += n
		}
	})
	if !t.Failed() {
		t.Logf("%+v", total)
	}
}

// run simulates one seed; a failing one is run again for its trace.
func run(t *testing.T, seed uint64) Report {
	t.Helper()
	report, err := Run(Options{Seed: seed, Plain: *plain, Unaimed: *unaimed, Steady: *steady})
	if err == nil || mutants.Judge(t, err) {
		return report
	}
	var trace bytes.Buffer
	_, again := Run(Options{Seed: seed, Plain: *plain, Unaimed: *unaimed, Steady: *steady, Trace: &trace})
	t.Errorf("%v\n(the second run: %v)\n%s\n%s\n…%s", err, again != nil && again.Error() == err.Error(), report.Layout, report.Faults,
		lastLines(trace.String(), 40))
	if testing.Verbose() && *seeds == 1 {
		_, _ = io.WriteString(testWriter{t}, trace.String())
	}
	return report
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
