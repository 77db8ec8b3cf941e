package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// measure runs the analysis over generated data, on a new cluster in each round, and the oracle over the same data.
func (s *workload) measure(ctx context.Context, c *Config) ([]Case, error) {
	facts := c.factsOr(s.facts)
	data, bytes, err := s.data(c.Dir, facts)
	if err != nil {
		return nil, err
	}
	var parts []Case
	name := fmt.Sprintf("%d %s, %d MB", facts, s.what, bytes/1e6)
	whole, err := repeat(ctx, name, c.rounds(), func(ctx context.Context, i int) ([]Measure, error) {
		var r endToEnd
		_, _, err := compareTimes(i, func() (time.Duration, error) {
			client, n, err := defaultTopology().runAnalysis(ctx, c, s.name(), s, data)
			if err == nil {
				r.client, r.ready, r.nodes = client, n.ready, n.nodes
			}
			return client.Wall, err
		}, func() (_ time.Duration, err error) {
			r.oracle, err = c.runOracle(ctx, s, data)
			return r.oracle.Wall, err
		})
		if err == nil {
			err = r.compare()
		}
		if err != nil {
			return nil, err
		}
		if i > 0 {
			parts = r.parts(parts)
		}
		return r.measures(facts, bytes), nil
	})
	return append([]Case{whole}, parts...), err
}

// endToEnd is one end-to-end round.
type endToEnd struct {
	client, oracle childReport
	ready          time.Duration
	nodes          []*nodeProcess
}

// compare fails if the answers differ, because the time of a wrong answer means nothing.
func (r *endToEnd) compare() error {
	if !bytes.Equal(r.client.Answer, r.oracle.Answer) {
		return errors.New("the answers of cluster and oracle differ")
	}
	return nil
}

func (r *endToEnd) measures(facts int, size int64) []Measure {
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
func (r *endToEnd) parts(cases []Case) []Case {
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
