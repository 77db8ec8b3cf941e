package sim

import (
	"flag"
	"io"
	"strings"
	"testing"

	"posta.dev/posta/internal/simulator/mutants"
	allseeds "posta.dev/posta/internal/simulator/seeds"
)

var (
	seed  = flag.Uint64("seed", 1, "first seed of TestSeeds")
	seeds = flag.Int("seeds", 150, "how many seeds TestSeeds runs")
)

func TestSeeds(t *testing.T) {
	n := *seeds
	if raceEnabled {
		n = (n + 9) / 10
	}
	allseeds.Each(t, *seed, n, func(seed uint64) { run(t, seed) })
}

// run simulates one seed; a failing one is run again for its trace.
func run(t *testing.T, seed uint64) Report {
	t.Helper()
	report, err := Run(Options{Seed: seed})
	whole := testing.Verbose() && *seeds == 1
	if whole {
		t.Logf("%+v", report)
	}
	if err == nil || mutants.Judge(t, err) {
		return report
	}
	var end lastLines
	trace := io.Writer(&end)
	if whole {
		trace = io.MultiWriter(trace, testWriter{t})
	}
	_, again := Run(Options{Seed: seed, Trace: trace})
	if again == nil || again.Error() != err.Error() {
		t.Errorf("seed %d is not repeated: %v", seed, again)
	}
	t.Errorf("%v\n%s\n%s\n…\n%s", err, report.Layout, report.Faults, strings.Join(end.lines, "\n"))
	return report
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

// lastLines keeps the end of a trace.
type lastLines struct{ lines []string }

func (l *lastLines) Write(p []byte) (int, error) {
	l.lines = append(l.lines, strings.TrimRight(string(p), "\n"))
	if len(l.lines) > 40 {
		l.lines = l.lines[1:]
	}
	return len(p), nil
}
