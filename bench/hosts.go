package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"posta.dev/posta/internal/gen"
	"posta.dev/posta/topology"
)

const aboutHosts = "bikes in two files of one size, read in place over TCP, on hosts of one core each: what a second host with an " +
	"input, a joiner and an aggregator gives; ratio: the time on one host over the time in this line"

// measureHosts measures the gain from a second host. A core simulates a host: the host's nodes run only on this core. The
// client and the reducer are on the first one.
func measureHosts(ctx context.Context, c *Config) (Section, error) {
	done := Section{About: aboutHosts}
	field := hosts(cores())
	if len(field) == 0 {
		done.Skipped = []Skip{{"hosts", "a host is a core here, and this process may use one"}}
		return done, nil
	}
	s, err := workloadOf("bikes")
	if err != nil {
		return done, err
	}
	facts := c.factsOr(s.facts)
	version, err := s.fingerprint(unchanged)
	if err != nil {
		return done, err
	}
	data, size, err := madeOnce(filepath.Join(c.Dir, fmt.Sprintf("%s-%d-halves-%s", s.name(), facts, version)), func(draft string) error {
		// Two of the three towns have the same number of trips. Each input reads one of these two.
		return errors.Join(s.generate(gen.OnDisk(draft), facts*5/4, seed), os.RemoveAll(filepath.Join(draft, "toronto")))
	})
	if err == nil {
		data, err = filepath.Abs(data)
	}
	if err != nil {
		return done, err
	}
	for i := range field {
		field[i].cluster.Roots = []string{data}
	}
	done.Cases, err = inTurns(ctx, c, field, func(ctx context.Context, x *contestant) (e result, err error) {
		if err = warm(data); err == nil {
			e, err = x.run(ctx, c, s, data)
		}
		return e, err
	}, func(results []result) (all [][]Measure, err error) {
		one := &results[0]
		for i := range results {
			r := &results[i]
			if !bytes.Equal(r.answer, one.answer) {
				return nil, fmt.Errorf("the answers on %s and on %s differ", field[i].name, field[0].name)
			}
			all = append(all, append(besides(r.wall, one.wall, r.cpu, one.cpu, size), Measure{"wall", "s", r.wall.Seconds()},
				Measure{"busy", "", busy(r, i+1)}))
		}
		return all, nil
	})
	return done, err
}

// busy is the fraction of the cores' time that was used.
func busy(r *result, cores int) float64 { return r.cpu.Seconds() / r.wall.Seconds() / float64(cores) }

// hosts returns the contestants: one host and two hosts. There are none on a machine with fewer than two cores.
func hosts(cores []int) (field []contestant) {
	if len(cores) < 2 {
		return nil
	}
	for i, name := range []string{"one host", "two hosts"} {
		n := i + 1
		field = append(field, contestant{
			name: name, sockets: tcpWithoutKeys,
			cluster: &topology.Variant{Replicas: map[string]int{"input": n, "joiner": n, "aggregator": n}},
			host: func(node *topology.Node) int {
				switch {
				case node == nil:
					return cores[0]
				case node.Holds(topology.Output):
					return cores[n-1] // the client and the reducer are on the other core
				}
				return cores[(node.Index-1)%n]
			},
		})
	}
	return field
}
