package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/topology"
)

// loadData is the data that keeps a cluster busy, with the answers that the cluster must give.
type loadData struct {
	dir   string
	right []byte
}

func (c *Config) loadData(ctx context.Context, s *workload) (*loadData, error) {
	facts := busyFacts
	if c.Rows > 0 {
		facts = min(facts, c.Rows)
	}
	dir, _, err := s.sanitizedData(c.Dir, facts)
	if err != nil {
		return nil, err
	}
	right, err := runOracle(ctx, c, s, dir)
	return &loadData{dir, right.answer}, err
}

// backgroundLoad is the process that keeps a cluster busy.
type backgroundLoad struct {
	data      *loadData
	cmd       *exec.Cmd
	out, errs bytes.Buffer
	read      sync.WaitGroup
	forget    func() bool // undoes that the process ends with the context
}

// start returns when the first session has been answered. From then on some sessions are always running.
func (d *loadData) start(ctx context.Context, c *Config, label, file string) (*backgroundLoad, error) {
	l := &backgroundLoad{data: d, cmd: c.command(label+"-load", "load", file, "bikes", d.dir)}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	l.cmd.Stderr = &l.errs
	if err := startChild(l.cmd); err != nil {
		return nil, err
	}
	l.forget = context.AfterFunc(ctx, func() { _ = l.cmd.Process.Kill() }) // it may have ended
	warm := make(chan struct{})
	l.read.Add(1)
	go func() {
		defer l.read.Done()
		r := bufio.NewReader(out)
		_, err := r.ReadString('\n')
		close(warm)
		if err == nil {
			_, _ = l.out.ReadFrom(r) // stop reports if something is missing
		}
	}()
	<-warm // or the process has ended, and stop reports how
	return l, nil
}

func (l *backgroundLoad) wait() error {
	defer l.forget()
	l.read.Wait()
	return l.cmd.Wait()
}

// stop waits for the running sessions and compares the answers of the last one.
func (l *backgroundLoad) stop() error {
	_ = l.cmd.Process.Signal(syscall.SIGTERM) // the process may have failed and ended
	if err := l.wait(); err != nil {
		return fmt.Errorf("what kept the cluster busy: %w: %s", err, l.errs.Bytes())
	}
	last, err := decodeReport(&l.out)
	if err == nil && !bytes.Equal(last.Answer, l.data.right) {
		err = errAnswers
	}
	return err
}

// runLoad runs sessions, several at a time, until its parent tells it to end. Then it reports the last answer.
func runLoad(ctx context.Context, file, analysis, dir string) error {
	begin := time.Now()
	t, err := topology.Load(file)
	if err != nil {
		return err
	}
	cfg, err := clientConfig(t, analysis, dir)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var warm sync.Once
	var last atomic.Pointer[client.Answer]
	errs := make([]error, busySessions)
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range busySessions {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for stop.Err() == nil && errs[i] == nil {
				var a *client.Answer
				// Not under ctx, because a session that has begun must run to its answer.
				a, errs[i] = client.Run(context.WithoutCancel(ctx), cfg)
				if errs[i] != nil {
					cancel()
					continue
				}
				last.Store(a)
				warm.Do(func() { fmt.Println("warm") })
			}
		}()
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return reportAnswer(begin, last.Load(), nil)
}
