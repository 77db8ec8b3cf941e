package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"posta.dev/posta/internal/gen"
)

// statement is a statement that `posta sql` and DuckDB 1.5 answer. theirs is the text for DuckDB, with DIRECTORY in
// place of the files' directory.
type statement struct{ name, text, theirs string }

// overMeasurements returns the statements over the measurements. The first is the one billion row challenge.
func overMeasurements() (all []statement) {
	const file = "read_csv('DIRECTORY/measurements.csv', auto_detect = false, header = true, delim = ';', columns = {'station': 'VARCHAR', " +
		"'temperature': 'DOUBLE'})"
	for _, s := range [][2]string{
		{"challenge", "SELECT station, min(temperature), avg(temperature), max(temperature) FROM measurements GROUP BY station ORDER BY station"},
		{"filtered", "SELECT station, count(*), sum(temperature) FROM measurements WHERE temperature > 30 AND station LIKE '%il%' GROUP BY " +
			"station ORDER BY station"},
		{"texts", "SELECT upper(left(station, 2)), count(*) FROM measurements GROUP BY 1 ORDER BY 1"},
		{"distinct", "SELECT station, count(DISTINCT temperature) FROM measurements GROUP BY station ORDER BY station"},
	} {
		all = append(all, statement{s[0], s[1], strings.Replace(s[1], "FROM measurements", "FROM "+file, 1)})
	}
	return all
}

// measurements is the default number of rows.
const measurements = 10_000_000

// measureSQL runs each statement with the command `posta sql`, on a private cluster, and with DuckDB. The cluster's
// figures are those of all its processes, from the command's start to its end. DuckDB's time ends with the last row.
func measureSQL(ctx context.Context, c *Config) (done Section, err error) {
	rows := c.factsOr(measurements)
	w := workload{generate: gen.Measurements}
	version, err := w.fingerprint(unchanged)
	if err != nil {
		return done, err
	}
	dir, size, err := madeOnce(filepath.Join(c.Dir, fmt.Sprintf("measurements-%d-%s", rows, version)), func(draft string) error {
		return gen.Measurements(gen.OnDisk(draft), rows, seed)
	})
	if err != nil {
		return done, err
	}
	done.About = fmt.Sprintf("statements over %d measurements, %d MB of CSV, with start and end of a cluster; times of DuckDB 1.5 over "+
		"those of posta sql in the same round", rows, size/1e6)
	return c.besideDuckDB(ctx, done, dir, overMeasurements())
}

// besideDuckDB answers each statement with both, in turns, and compares the answers.
func (c *Config) besideDuckDB(ctx context.Context, done Section, dir string, statements []statement) (Section, error) {
	why := "not asked for"
	if len(c.Contestants) == 0 || slices.Contains(c.Contestants, string(duckDB)) {
		if why = ""; c.prepare(ctx, duckDBSQL) != nil {
			why = c.prepare(ctx, duckDBSQL).Error()
		}
	}
	if why != "" {
		done.Skipped = append(done.Skipped, Skip{string(duckDBSQL), why})
	}
	for _, s := range statements {
		one, err := repeat(ctx, s.name, c.rounds(), func(ctx context.Context, i int) ([]Measure, error) {
			if err := warm(dir); err != nil {
				return nil, err
			}
			var ours, theirs result
			if why != "" {
				ours, err := s.cluster(ctx, c, dir)
				return []Measure{{"wall", "s", ours.wall.Seconds()}, {"CPU", "s", ours.cpu.Seconds()},
					{"largest process", "MB", float64(ours.peak) / 1e6}}, err
			}
			_, _, err := compareTimes(i, func() (_ time.Duration, err error) { ours, err = s.cluster(ctx, c, dir); return ours.wall, err },
				func() (_ time.Duration, err error) { theirs, err = s.duckDB(ctx, c, dir); return theirs.wall, err })
			if err == nil {
				err = sameRows(ours.answer, theirs.answer)
			}
			return s.figures(&ours, &theirs), err
		})
		if err != nil {
			return done, err
		}
		done.Cases = append(done.Cases, one)
	}
	return done, nil
}

func (s statement) figures(ours, theirs *result) []Measure {
	return []Measure{
		{"wall", "s", ours.wall.Seconds()}, {"DuckDB", "s", theirs.wall.Seconds()}, {"times", "×", theirs.wall.Seconds() / ours.wall.Seconds()},
		{"CPU", "s", ours.cpu.Seconds()}, {"DuckDB CPU", "s", theirs.cpu.Seconds()},
		{"CPU times", "×", theirs.cpu.Seconds() / ours.cpu.Seconds()},
		{"largest process", "MB", float64(ours.peak) / 1e6}, {"DuckDB's", "MB", float64(theirs.peak) / 1e6},
	}
}

// cluster answers with this program's command sql.
func (s statement) cluster(ctx context.Context, c *Config, dir string) (e result, err error) {
	cmd := exec.CommandContext(ctx, c.Self[0], "sql", "--quiet", "--json", "--data", dir, s.text)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // the command ends its nodes
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return e, fmt.Errorf("posta sql: %w: %s", err, errs.Bytes())
	}
	e.wall, e.cpu = time.Since(begin), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime() // includes the processes that it has started
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		e.peak = u.Maxrss << 10
	}
	var parts struct {
		Queries map[string]struct{ Rows json.RawMessage }
	}
	if err := json.Unmarshal(out.Bytes(), &parts); err != nil {
		return e, fmt.Errorf("what posta sql answers: %w", err)
	}
	e.answer = parts.Queries["query_1"].Rows
	return e, nil
}

// duckDB answers with DuckDB, which gets the types.
func (s statement) duckDB(ctx context.Context, c *Config, dir string) (e result, err error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return e, err
	}
	return c.runRival(ctx, duckDBSQL, strings.ReplaceAll(s.theirs, "DIRECTORY", strings.ReplaceAll(at, "'", "''")))
}

// errRows reports rows that differ from DuckDB's.
var errRows = errors.New("the rows are not those of DuckDB")

// sameRows compares two lists of rows. Posta's sums of DOUBLEs are exact and DuckDB's are not, so numbers may differ by
// a relative 1e-9.
func sameRows(ours, theirs json.RawMessage) error {
	var a, b [][]any
	if err := errors.Join(json.Unmarshal(ours, &a), json.Unmarshal(theirs, &b)); err != nil {
		return err
	}
	if len(a) != len(b) {
		return fmt.Errorf("%w: %d in place of %d", errRows, len(a), len(b))
	}
	for i := range a {
		same := slices.EqualFunc(a[i], b[i], func(x, y any) bool {
			y = plainValue(y)
			f, ok := asNumber(x)
			g, also := y.(float64)
			return x == y || ok && also && math.Abs(f-g) <= 1e-9*math.Max(math.Abs(f), 1)
		})
		if !same {
			return fmt.Errorf("%w: row %d is %v in place of %v", errRows, i+1, a[i], b[i])
		}
	}
	return nil
}

// asNumber reads a number, including a DECIMAL, which Posta writes as text.
func asNumber(v any) (float64, bool) {
	if text, ok := v.(string); ok {
		f, err := strconv.ParseFloat(text, 64)
		return f, err == nil
	}
	f, ok := v.(float64)
	return f, ok
}

// plainValue converts a value of DuckDB's driver to what Posta writes: a DECIMAL, which has digits and scale, to a number,
// and a date to its text.
func plainValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		digits, scale := v["Value"], v["Scale"]
		d, isNumber := digits.(float64)
		s, scaled := scale.(float64)
		if isNumber && scaled {
			return d / math.Pow(10, s)
		}
	case string:
		return strings.TrimSuffix(v, "T00:00:00Z")
	}
	return v
}

// runRival runs a program of bench/rivals, which prints answers and writes its costs to a file.
func (c *Config) runRival(ctx context.Context, n need, args ...string) (e result, err error) {
	costs, err := os.CreateTemp(c.Dir, "costs")
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, os.Remove(costs.Name())) }()
	if err := costs.Close(); err != nil {
		return e, err
	}
	program, err := c.rival(ctx, n)
	if err != nil {
		return e, err
	}
	cmd := exec.CommandContext(ctx, program, append([]string{"-costs", costs.Name()}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return e, fmt.Errorf("%w: %s", err, errs.Bytes())
	}
	b, err := os.ReadFile(costs.Name())
	if err != nil {
		return e, err
	}
	var cost struct {
		Version   string
		Wall, CPU float64
		Peak      int64
	}
	if err := json.Unmarshal(b, &cost); err != nil {
		return e, fmt.Errorf("what the yardstick says of its costs: %w", err)
	}
	c.version(string(n), cost.Version)
	return result{answer: out.Bytes(), wall: seconds(cost.Wall), cpu: seconds(cost.CPU), peak: cost.Peak, sum: cost.Peak}, nil
}
