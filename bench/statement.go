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
	"strings"
	"syscall"
	"time"
)

// statement is a statement that `posta sql` and DuckDB 1.5 answer.
type statement struct {
	name, text string
	tables     declarations
	order      ordering
	keys       string // the statement with the keys of its order as further columns; "" if it has these columns
}

func newStatement(name, text string, tables declarations) (s statement, err error) {
	s = statement{name: name, text: text, tables: tables}
	if s.order, s.keys, err = orderOf(text, tables.columns); err != nil {
		return s, fmt.Errorf("statement %s: %w", name, err)
	}
	return s, nil
}

// besideDuckDB answers each statement with both, in turns, and compares the answers. A statement that Posta refuses is named.
func (c *Config) besideDuckDB(ctx context.Context, done Section, dir string, statements []statement) (Section, error) {
	why := c.withoutDuckDB(ctx)
	if why != "" {
		done.Skipped = append(done.Skipped, Skip{string(duckDBSQL), why})
	}
	for _, s := range statements {
		one, err := repeat(ctx, s.name, c.rounds(), func(ctx context.Context, i int) ([]Measure, error) {
			if err := warm(dir); err != nil {
				return nil, err
			}
			if why != "" {
				ours, err := s.cluster(ctx, c, dir)
				return []Measure{{"wall", "s", ours.wall.Seconds()}, {"CPU", "s", ours.cpu.Seconds()},
					{"largest process", "MB", float64(ours.peak) / 1e6}}, err
			}
			return s.round(ctx, c, dir, i)
		})
		var why refusal
		if errors.As(err, &why) {
			done.Skipped = append(done.Skipped, Skip{"statement " + s.name, why.Error()})
			continue
		}
		if err != nil {
			return done, err
		}
		done.Cases = append(done.Cases, one)
	}
	if why == "" {
		done.Cases = append(done.Cases, overall(done.Cases, len(statements)))
	}
	return done, nil
}

// withoutDuckDB says why DuckDB answers no statements; "" if it does.
func (c *Config) withoutDuckDB(ctx context.Context) string {
	if len(c.Contestants) > 0 && !slices.Contains(c.Contestants, string(duckDB)) {
		return "not asked for"
	}
	if err := c.prepare(ctx, duckDBSQL); err != nil {
		return err.Error()
	}
	return ""
}

// round runs both once.
func (s *statement) round(ctx context.Context, c *Config, dir string, i int) ([]Measure, error) {
	var ours, theirs result
	_, _, err := compareTimes(i, func() (_ time.Duration, err error) { ours, err = s.cluster(ctx, c, dir); return ours.wall, err },
		func() (_ time.Duration, err error) { theirs, err = s.duckDB(ctx, c, dir); return theirs.wall, err })
	if err == nil {
		err = s.order.same(ours.answer, theirs.answer)
	}
	if err == nil && s.keys != "" && i <= 1 {
		err = s.compareKeys(ctx, c, dir)
	}
	return []Measure{
		{"wall", "s", ours.wall.Seconds()}, {"DuckDB", "s", theirs.wall.Seconds()}, {"times", "×", theirs.wall.Seconds() / ours.wall.Seconds()},
		{"CPU", "s", ours.cpu.Seconds()}, {"DuckDB CPU", "s", theirs.cpu.Seconds()},
		{"CPU times", "×", theirs.cpu.Seconds() / ours.cpu.Seconds()},
		{"largest process", "MB", float64(ours.peak) / 1e6}, {"DuckDB's", "MB", float64(theirs.peak) / 1e6},
	}, err
}

// compareKeys compares the answers with the keys of their order, which the statement itself does not show.
func (s *statement) compareKeys(ctx context.Context, c *Config, dir string) error {
	shown, err := newStatement(s.name, s.keys, s.tables)
	if err != nil {
		return err
	}
	ours, err := shown.cluster(ctx, c, dir)
	if err != nil {
		return err
	}
	theirs, err := shown.duckDB(ctx, c, dir)
	if err != nil {
		return err
	}
	return shown.order.same(ours.answer, theirs.answer)
}

// overall returns the geometric means of the ratios of all statements, and the least ratios.
func overall(cases []Case, of int) Case {
	x := Case{Name: fmt.Sprintf("geometric mean of %d of %d", len(cases), of)}
	for _, name := range []string{"times", "CPU times"} {
		sum, least := 0.0, math.Inf(1)
		for _, c := range cases {
			i := slices.IndexFunc(c.Figures, func(f Figure) bool { return f.Name == name })
			sum += math.Log(c.Figures[i].Median)
			least = min(least, c.Figures[i].Median)
		}
		if len(cases) > 0 {
			x.add([]Measure{{name, "×", math.Exp(sum / float64(len(cases)))}, {"least " + name, "×", least}})
		}
	}
	return x
}

// refusal is what Posta says of a statement that it does not understand.
type refusal string

func (r refusal) Error() string { return "refused: " + string(r) }

// wrongUse is the exit code of a command for a wrong statement.
const wrongUse = 2

// cluster answers with this program's command sql.
func (s *statement) cluster(ctx context.Context, c *Config, dir string) (e result, err error) {
	cmd := exec.CommandContext(ctx, c.Self[0], "sql", "--quiet", "--json", "--data", dir, s.tables.ours+s.text)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // the command ends its nodes
	begin := time.Now()
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == wrongUse {
		line, _, _ := strings.Cut(errs.String(), "\n")
		return e, refusal(line)
	}
	if err != nil {
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

// duckDB answers with DuckDB.
func (s *statement) duckDB(ctx context.Context, c *Config, dir string) (e result, err error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return e, err
	}
	return c.runRival(ctx, duckDBSQL, strings.ReplaceAll(s.tables.theirs, "DIRECTORY", strings.ReplaceAll(at, "'", "''"))+s.text)
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
