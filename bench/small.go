package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"posta.dev/posta/internal/pty"
	"posta.dev/posta/query"
)

const (
	// smallText is what everybody is asked, and smallAnswer the answer. A terminal shows what is typed, so the text must not contain
	// the answer.
	smallText   = "SELECT sum(number) * 1000 AS answer FROM small"
	smallAnswer = "421000"

	smallCommands   = 20  // in a round, of each program
	smallStatements = 200 // in a round, one after the other, of the prompt and of a Go program
)

const aboutSmall = `a statement over a file of one row: the whole command, from its start to its end, of posta and of a program that
links DuckDB 1.5, in turns, %d of each in a round; posta version, which only starts; a statement typed at a prompt that has answered one before, until the answer is on the terminal;
the same by package query in a Go program; %d statements in a round. Times over those of posta sql; CPU is a mean`

// measureSmall measures what a question costs in which there is nothing to compute.
func measureSmall(ctx context.Context, c *Config) (done Section, err error) {
	commands, statements := c.fewer(smallCommands, 1), c.fewer(smallStatements, 100)
	done.About = fmt.Sprintf(aboutSmall, commands, statements)
	dir, _, err := madeOnce(filepath.Join(c.Dir, "small-1"), func(draft string) error {
		return errors.Join(os.Mkdir(draft, 0o755), os.WriteFile(filepath.Join(draft, "small.csv"), []byte("name,number\nfew,421\n"), 0o644))
	})
	if err != nil {
		return done, err
	}
	started, err := c.smallPrograms(ctx, dir, &done)
	if err != nil {
		return done, err
	}
	for i := range started {
		done.Cases = append(done.Cases, Case{Name: started[i].name})
	}
	lasting := []lastingProgram{{"at the prompt", c.promptTimes}, {"package query", c.queryTimes}}
	if controller, tty, err := pty.Open(80, 24); err != nil {
		done.Skipped = append(done.Skipped, Skip{lasting[0].name, err.Error()})
		lasting = lasting[1:]
	} else if err := errors.Join(controller.Close(), tty.Close()); err != nil {
		return done, err
	}
	for i := range lasting {
		done.Cases = append(done.Cases, Case{Name: lasting[i].name})
	}
	for round, counts := range c.rounds() {
		all, err := smallRound(ctx, started, commands, round)
		if err != nil {
			return done, err
		}
		for _, p := range lasting {
			m, err := p.measure(ctx, dir, statements)
			if err != nil {
				return done, err
			}
			all = append(all, m)
		}
		for i := range all {
			if counts {
				done.Cases[i].add(all[i])
			}
		}
	}
	return done, nil
}

// lastingProgram answers many statements.
type lastingProgram struct {
	name    string
	measure func(ctx context.Context, dir string, statements int) ([]Measure, error)
}

// smallProgram is a command that is started for one statement.
type smallProgram struct {
	name string
	args []string
	says string // what its output has to contain
}

// smallPrograms returns the commands that are compared, posta sql first.
func (c *Config) smallPrograms(ctx context.Context, dir string, done *Section) ([]smallProgram, error) {
	all := []smallProgram{
		{"posta sql", []string{c.Self[0], "sql", "--data", dir, smallText}, smallAnswer},
		{"posta version", []string{c.Self[0], "version"}, "posta"},
	}
	if why := c.withoutDuckDB(ctx); why != "" {
		done.Skipped = append(done.Skipped, Skip{string(duckDBSQL), why})
		return all, nil
	}
	program, err := c.rival(ctx, duckDBSQL)
	if err != nil {
		return nil, err
	}
	at, err := filepath.Abs(filepath.Join(dir, "small.csv"))
	if err != nil {
		return nil, err
	}
	text := strings.Replace(smallText, "FROM small", "FROM read_csv('"+strings.ReplaceAll(at, "'", "''")+"')", 1)
	return append(all, smallProgram{"DuckDB", []string{program, text}, smallAnswer}), nil
}

// smallRound runs all programs so many times, in turns.
func smallRound(ctx context.Context, programs []smallProgram, times, round int) (all [][]Measure, err error) {
	wall, cpu := make([][]time.Duration, len(programs)), make([]time.Duration, len(programs))
	for i := range times * len(programs) {
		at := (i + round + i/len(programs)) % len(programs) // each turn begins with another one
		w, spent, err := programs[at].run(ctx)
		if err != nil {
			return nil, err
		}
		wall[at], cpu[at] = append(wall[at], w), cpu[at]+spent
	}
	for i := range programs {
		p50 := percentile(wall[i], 50)
		all = append(all, []Measure{
			{"p50", "ms", p50}, {"p90", "ms", percentile(wall[i], 90)}, {"CPU", "ms", milliseconds(cpu[i]) / float64(times)},
			{"times", "×", p50 / percentile(wall[0], 50)}, {"CPU times", "×", cpu[i].Seconds() / cpu[0].Seconds()},
		})
	}
	return all, nil
}

func milliseconds(t time.Duration) float64 { return float64(t.Microseconds()) / 1e3 }

// run runs the program once.
func (p *smallProgram) run(ctx context.Context) (wall, cpu time.Duration, err error) {
	cmd := exec.CommandContext(ctx, p.args[0], p.args[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	begin := time.Now()
	err = cmd.Run()
	wall = time.Since(begin)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w: %s", p.name, err, errs.Bytes())
	}
	if !strings.Contains(out.String(), p.says) {
		return 0, 0, fmt.Errorf("%s answers %q, without %s", p.name, out.String(), p.says)
	}
	return wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// statementTimes are the figures of statements that one process answers.
func statementTimes(times []time.Duration, cpu time.Duration) []Measure {
	return []Measure{{"p50", "ms", percentile(times, 50)}, {"p90", "ms", percentile(times, 90)},
		{"CPU", "ms", milliseconds(cpu) / float64(len(times))}}
}

// queryTimes asks by package query, in a process of its own.
func (c *Config) queryTimes(ctx context.Context, dir string, statements int) ([]Measure, error) {
	o, err := c.run(ctx, "small", "small", dir, strconv.Itoa(statements))
	if err != nil {
		return nil, err
	}
	return statementTimes(o.Times, o.CPU), nil
}

// runSmall is that process.
func runSmall(ctx context.Context, dir, count string) (err error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return errUsage
	}
	db, err := query.Open(ctx, query.Local(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var times []time.Duration
	before := cpuTime()
	for i := range n + 1 {
		begin, answer := time.Now(), ""
		if err := db.QueryRow(ctx, smallText).Scan(&answer); err != nil {
			return err
		}
		if answer != smallAnswer {
			return fmt.Errorf("%w: %s, and not %s", errAnswer, answer, smallAnswer)
		}
		if i == 0 { // it starts the node
			before = cpuTime()
			continue
		}
		times = append(times, time.Since(begin))
	}
	return reportTimes(times, cpuTime()-before)
}
