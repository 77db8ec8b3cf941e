package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"posta.dev/posta/topology"
)

// measure runs the analysis over generated data, on a new cluster in each round, and the oracle over the same data.
func (s *subject) measure(ctx context.Context, c *Config) ([]Case, error) {
	facts := c.factsOf(s)
	data, bytes, err := s.data(c.Dir, facts)
	if err != nil {
		return nil, err
	}
	var parts []Case
	name := fmt.Sprintf("%d %s, %d MB", facts, s.what, bytes/1e6)
	whole, err := repeat(ctx, name, c.rounds(), func(ctx context.Context, i int) ([]Measure, error) {
		r := ends{c: c, analysis: s.name(), data: data}
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
	analysis       string
	data           string
	client, oracle outcome
	ready          time.Duration
	nodes          []*member
}

func (r *ends) cluster(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(r.c.Dir, "b")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	v := topology.Variant{Dir: filepath.Join(dir, "data"), IPCDir: socketDir(dir), Settings: map[string]string{"medics.replicas": "0"}}
	if r.c.TCP > 0 {
		v.IPCDir, v.Ports = "", r.c.TCP
	}
	for key, value := range r.c.Set {
		v.Settings[key] = value
	}
	text, err := topology.Generate(v)
	if err != nil {
		return err
	}
	x, err := startCrew(ctx, r.c, r.analysis, "node", dir, text, nil)
	if err != nil {
		return err
	}
	r.ready, r.nodes = x.ready, x.nodes
	r.client, err = r.c.run(ctx, r.analysis+"-client", "client", x.topo.File, r.analysis, r.data, fmt.Sprint(r.c.Lanes), fmt.Sprint(r.c.Chunk))
	return errors.Join(err, x.stop())
}

func (r *ends) alone(ctx context.Context) (err error) {
	r.oracle, err = r.c.run(ctx, r.analysis+"-oracle", "oracle", r.analysis, r.data)
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
		cpu += m.cpu
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
		costs(i, m.cpu, m.memory.Peak)
	}
	costs(len(r.nodes), r.client.CPU, r.client.Peak)
	costs(len(r.nodes)+1, r.oracle.CPU, r.oracle.Peak)
	return cases
}
