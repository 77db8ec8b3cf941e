package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"posta/client"
	"posta/topology"
)

// Small sessions, whose time is not that of their rows.
const (
	latencyFacts    = 2000
	latencySessions = 50 // in a round
)

// measureLatency asks how long what was acknowledged takes to have its effect: from the moment in which all of a small session is
// durable, chunks and ends, until its answers are there, on a cluster that does nothing else. An answer needs the last end, so time
// before its acknowledgement is the client's.
func measureLatency(ctx context.Context, c *Config) (done Section, err error) {
	done.About = fmt.Sprintf("from the acknowledgement of the end of a session's last stream until its last answer; %d sessions a round of %d trips each",
		latencySessions, latencyFacts)
	s, err := subjectOf("bikes")
	if err != nil {
		return done, err
	}
	data, _, err := s.tidied(c.Dir, latencyFacts)
	if err != nil {
		return done, err
	}
	right, err := oracleAlone(ctx, c, s, data)
	if err != nil {
		return done, err
	}
	return c.inTurns(ctx, done, func(ctx context.Context, x *contestant) (_ []Measure, err error) {
		label := x.name + "-latency"
		n, dir, err := x.start(ctx, c, label)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		o, err := c.run(ctx, label+"-client", "latency", n.topo.File, s.name(), data, fmt.Sprint(latencySessions))
		if err = errors.Join(err, n.stop()); err != nil {
			return nil, err
		}
		if string(o.Answer) != string(right.answer) {
			return nil, errAnswers
		}
		slices.Sort(o.Times)
		ms := func(share int) float64 { return float64(o.Times[(len(o.Times)-1)*share/100].Microseconds()) / 1e3 }
		return []Measure{{"p50", "ms", ms(50)}, {"p99", "ms", ms(99)}}, nil
	})
}

// inTurns measures those who are clusters and durable, each in its turn of every round.
func (c *Config) inTurns(ctx context.Context, done Section, measure func(context.Context, *contestant) ([]Measure, error)) (Section, error) {
	field, skipped, err := c.field(ctx, func(x *contestant) bool { return x.cluster != nil && !x.volatile })
	if err != nil {
		return done, err
	}
	done.Skipped = skipped
	done.Cases = make([]Case, len(field))
	for round := range 1 + c.Rounds {
		for i := range field {
			at := (i + round) % len(field)
			x := &field[at]
			done.Cases[at].Name, done.Cases[at].About = x.name, x.about
			m, err := measure(ctx, x)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return done, fmt.Errorf("%s, round %d: %w", x.name, round, err)
			}
			if round > 0 {
				done.Cases[at].add(m)
			}
		}
	}
	return done, nil
}

// runLatency is the client: one session after the other.
func runLatency(ctx context.Context, file, analysis, dir, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return errUsage
	}
	t, err := topology.Load(file)
	if err != nil {
		return err
	}
	var a *client.Answer
	var times []time.Duration
	for range n {
		var took time.Duration
		if a, took, err = oneSession(ctx, client.Config{Entries: t.EntryPoints(), Analysis: analysis, Dir: dir}); err != nil {
			return err
		}
		times = append(times, took)
	}
	return tell(a, times)
}

func oneSession(ctx context.Context, cfg client.Config) (a *client.Answer, took time.Duration, err error) {
	x, err := client.Dial(ctx, cfg)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if err = x.Open(ctx); err == nil {
		err = x.Upload(ctx)
	}
	begin := time.Now()
	if err == nil {
		a, err = x.Results(ctx)
	}
	took = time.Since(begin)
	if err == nil {
		err = x.Finish(ctx)
	}
	return a, took, err
}
