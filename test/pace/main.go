//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := pace{}
	flag.IntVar(&p.times, "times", 50, "how often each test runs")
	flag.IntVar(&p.load, "load", 20, "how many tests run side by side")
	flag.BoolVar(&p.race, "race", false, "with the race detector")
	flag.StringVar(&p.only, "run", ".", "tests whose names match `pattern`")
	flag.DurationVar(&p.limit, "for", 0, "begin no test after this time; 0: no limit")
	path := flag.String("table", "test/pace/table.md", "the `file` that keeps the table")
	flag.Parse()
	failed, err := p.run(ctx, flag.Args(), *path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "pace:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

type pace struct {
	times, load int
	race        bool
	only        string
	limit       time.Duration
}

// job is one test, which is run by itself.
type job struct{ dir, program, name string }

// run runs the tests of packages. The table is written after each round, so that a run that is ended early has not been for nothing.
func (p pace) run(ctx context.Context, dirs []string, path string) (failed int, err error) {
	only, err := regexp.Compile(p.only)
	if err != nil {
		return 0, err
	}
	kept, err := readTable(path)
	if err != nil {
		return 0, err
	}
	tmp, err := os.MkdirTemp("", "posta-pace-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	var jobs []job
	for _, dir := range dirs {
		found, err := p.build(ctx, dir, tmp, only)
		if err != nil {
			return 0, err
		}
		jobs = append(jobs, found...)
	}
	if err := adopt(); err != nil {
		return 0, err
	}
	f, err := newFreezer(p.load)
	if err != nil {
		return 0, err
	}
	defer f.end()
	freezing, thaw := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { f.run(freezing) })
	defer wg.Wait()
	defer thaw()

	r := runner{ctx: ctx, running: make(chan struct{}, p.load), kept: kept, began: time.Now(), limit: p.limit}
	for round := 1; round <= p.times && r.goesOn(); round++ {
		rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
		r.begin(jobs)
		failed, err := r.write(path)
		if err != nil {
			return failed, err
		}
		fmt.Printf("pace: round %d of %d begun, %d tests, %d failed so far, %v\n", round, p.times, len(jobs), failed,
			time.Since(r.began).Round(time.Second))
	}
	r.wg.Wait()
	if failed, err = r.write(path); err == nil {
		err = ctx.Err()
	}
	return failed, err
}

// build links the tests of a package once, and lists those that are wanted.
func (p pace) build(ctx context.Context, dir, tmp string, only *regexp.Regexp) ([]job, error) {
	program := filepath.Join(tmp, strings.ReplaceAll(strings.Trim(filepath.ToSlash(dir), "./"), "/", "-")+".test")
	args := []string{"test", "-c", "-vet=off", "-o", program}
	if p.race {
		args = append(args, "-race")
	}
	if out, err := exec.CommandContext(ctx, "go", append(args, dir)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the tests of %s: %w\n%s", dir, err, out)
	}
	list := exec.CommandContext(ctx, program, "-test.list", ".")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w", dir, err)
	}
	var jobs []job
	for _, name := range strings.Fields(string(out)) {
		if strings.HasPrefix(name, "Test") && only.MatchString(name) {
			jobs = append(jobs, job{dir, program, name})
		}
	}
	return jobs, nil
}

// runner runs tests side by side, across the borders of rounds.
type runner struct {
	ctx     context.Context
	running chan struct{}
	began   time.Time
	limit   time.Duration
	wg      sync.WaitGroup

	mu     sync.Mutex // of what follows
	kept   table
	failed int
}

func (r *runner) goesOn() bool {
	return r.ctx.Err() == nil && (r.limit == 0 || time.Since(r.began) < r.limit)
}

// begin runs each test once. The last of them may still run when it returns.
func (r *runner) begin(jobs []job) {
	for _, j := range jobs {
		r.running <- struct{}{}
		if !r.goesOn() {
			<-r.running
			return
		}
		r.wg.Go(func() {
			defer func() { <-r.running }()
			out, err := j.run(r.ctx)
			if r.ctx.Err() != nil {
				return // it was ended, and says nothing
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.kept.note(j.dir+" "+j.name, err == nil)
			if err != nil {
				r.failed++
				fmt.Printf("pace: %s %s: %v\n%s\n", j.dir, j.name, err, out)
			}
		})
	}
}

func (r *runner) write(path string) (failed int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed, r.kept.write(path)
}

func (j job) run(ctx context.Context) ([]byte, error) {
	cmd := exec.CommandContext(ctx, j.program, "-test.run", "^"+j.name+"$", "-test.timeout", "30m")
	cmd.Dir = j.dir
	// A file takes what it says: a pipe would stay open as long as a detached node that has inherited it.
	out, err := os.CreateTemp("", "posta-pace-out-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	failed := cmd.Run()
	said, err := os.ReadFile(out.Name())
	if failed == nil {
		failed = err
	}
	return said, failed
}
