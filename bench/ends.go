package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// measure runs the analysis over generated data, on a new cluster in each round, and the oracle over the same data.
func (s *subject) measure(ctx context.Context, c *Config) ([]Case, error) {
	facts := c.factsOr(s.facts)
	data, bytes, err := s.data(c.Dir, facts)
	if err != nil {
		return nil, err
	}
	var parts []Case
	name := fmt.Sprintf("%d %s, %d MB", facts, s.what, bytes/1e6)
	whole, err := repeat(ctx, name, c.rounds(), func(ctx context.Context, i int) ([]Measure, error) {
		r := ends{c: c, subject: s, data: data}
		if err := inTurn(i, func() error { return r.cluster(ctx) }, func() error { return r.alone(ctx) }); err != nil {
			return nil, err
		}
		if err := r.compare(); err != nil {
			return nil, err
		}
		if i > 0 {
			parts = r.parts(parts)
		}
		return r.measures(facts, bytes), nil
	})
	return append([]Case{whole}, parts...), err
}

// ends is one round, end to end.
type ends struct {
	c              *Config
	subject        *subject
	data           string
	client, oracle outcome
	ready          time.Duration
	nodes          []*member
}

func (r *ends) cluster(ctx context.Context) error {
	x := contestants()[0] // the first: the default topology
	o, n, err := x.runAnalysis(ctx, r.c, r.subject.name(), r.subject, r.data)
	if err != nil {
		return err
	}
	r.client, r.ready, r.nodes = o, n.ready, n.nodes
	return nil
}

func (r *ends) alone(ctx context.Context) (err error) {
	r.oracle, err = r.c.run(ctx, r.subject.name()+"-oracle", "oracle", r.subject.name(), r.data)
	return err
}

// compare: a wrong answer has no speed.
func (r *ends) compare() error {
	if !bytes.Equal(r.client.Answer, r.oracle.Answer) {
		return errors.New("the answers of cluster and oracle differ")
	}
	return nil
}

func (r *ends) measures(facts int, size int64) []Measure {
	cpu := r.client.CPU
	for _, m := range r.nodes {
		cpu += m.usage.cpu
	}
	ours, theirs := r.client.Wall.Seconds(), r.oracle.Wall.Seconds()
	return []Measure{
		{"Mfacts", "/s", float64(facts) / 1e6 / ours},
		{"CSV", "MB/s", rate(size, r.client.Wall)},
		{"wall", "s", ours},
		{"oracle", "s", theirs},
		{"ratio", "", theirs / ours},
		{"CPU", "s", cpu.Seconds()},
		{"oracle CPU", "s", r.oracle.CPU.Seconds()},
		{"ready", "ms", float64(r.ready.Milliseconds())},
	}
}

// parts adds what each process has cost.
func (r *ends) parts(cases []Case) []Case {
	if cases == nil {
		for _, m := range r.nodes {
			cases = append(cases, Case{Name: string(m.id)})
		}
		cases = append(cases, Case{Name: "client"}, Case{Name: "oracle"})
	}
	costs := func(i int, cpu time.Duration, peak int64) {
		cases[i].add([]Measure{{"CPU", "s", cpu.Seconds()}, {"peak memory", "MB", float64(peak) / 1e6}})
	}
	for i, m := range r.nodes {
		costs(i, m.usage.cpu, m.usage.peak())
	}
	costs(len(r.nodes), r.client.CPU, r.client.Peak)
	costs(len(r.nodes)+1, r.oracle.CPU, r.oracle.Peak)
	return cases
}
