package sim

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"posta.dev/posta/test/simulator/mutants"
	allseeds "posta.dev/posta/test/simulator/seeds"
)

var (
	seed  = flag.Uint64("seed", 1, "first seed of TestSeeds")
	seeds = flag.Int("seeds", 150, "how many seeds TestSeeds runs")
	files = flag.Bool("files", false, "TestSeeds skips seeds whose inputs read no file where it lies")
	inSQL = flag.Bool("sql", false, "most sessions of TestSeeds are of SQL")
)

func TestSeeds(t *testing.T) {
	n := *seeds
	if raceEnabled {
		n = (n + 9) / 10
	}
	allseeds.Each(t, *seed, n, func(seed uint64) {
		if !*files || readsFiles(seed) {
			runWith(t, Options{Seed: seed, SQL: *inSQL})
		}
	})
}

// TestSeeds_SQL: the same faults, while most sessions bring a statement's plan.
func TestSeeds_SQL(t *testing.T) {
	n := max(1, *seeds/8)
	if raceEnabled {
		n = (n + 9) / 10
	}
	allseeds.Each(t, *seed, n, func(seed uint64) { runWith(t, Options{Seed: seed, SQL: true}) })
}

// run simulates one seed; a failing one is run again for its trace.
func run(t *testing.T, seed uint64) Report {
	t.Helper()
	return runWith(t, Options{Seed: seed})
}

func runWith(t *testing.T, o Options) Report {
	t.Helper()
	report, err := Run(o)
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
	o.Trace = trace
	_, again := Run(o)
	if again == nil || again.Error() != err.Error() {
		t.Errorf("seed %d is not repeated: %v", o.Seed, again)
	}
	if o.SQL {
		err = fmt.Errorf("with -sql: %w", err)
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
