package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/internal/freeports"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// keyedFrame is the size of the frames whose hop the keys section measures, in bytes.
const keyedFrame = 64 << 10

// measureKeys measures what authentication and encryption cost: one hop, and two analyses end to end, over TCP with
// keys, over TCP without, and over unix sockets. The analyses run once more with inputs that read the files in place,
// as in posta run: then only the links are encrypted.
func measureKeys(ctx context.Context, c *Config) ([]Case, error) {
	field := []contestant{
		{name: "TCP with keys", cluster: &topology.Variant{}, sockets: tcpWithKeys},
		{name: "TCP", cluster: &topology.Variant{}, sockets: tcpWithoutKeys},
		{name: "unix sockets", cluster: &topology.Variant{}, sockets: unixSockets},
	}
	const plain = 1 // index of the baseline of the others' times
	frames := max(1, int(c.Amount)/keyedFrame)
	all, err := inTurns(ctx, c, field, func(ctx context.Context, x *contestant) (hop, error) {
		return x.hop(ctx, c, frames, keyedFrame)
	}, func(hops []hop) (all [][]Measure, err error) {
		for i := range hops {
			h, p := &hops[i], &hops[plain]
			all = append(all, besides(h.wall, p.wall, h.cpu, p.cpu, int64(h.frames)*int64(h.size)))
		}
		return all, nil
	})
	if err != nil {
		return nil, err
	}
	name(all, "a hop of "+sizeName(keyedFrame))
	for _, analysis := range []string{"bikes", "flights"} {
		cases, err := measureKeysOf(ctx, c, analysis, field, plain)
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

func measureKeysOf(ctx context.Context, c *Config, analysis string, field []contestant, plain int) ([]Case, error) {
	s, err := workloadOf(analysis)
	if err != nil {
		return nil, err
	}
	facts := c.factsOr(s.facts)
	data, size, err := s.data(c.Dir, facts)
	if err != nil {
		return nil, err
	}
	if data, err = filepath.Abs(data); err != nil {
		return nil, err
	}
	all := slices.Clone(field)
	for _, x := range field {
		x.name += ", files read in place"
		x.cluster = &topology.Variant{Roots: []string{data}}
		all = append(all, x)
	}
	cases, err := inTurns(ctx, c, all, func(ctx context.Context, x *contestant) (e result, err error) {
		if err = warm(data); err == nil {
			e, err = x.run(ctx, c, s, data)
		}
		return e, err
	}, func(entries []result) (measures [][]Measure, err error) {
		for i := range entries {
			e, p := &entries[i], &entries[i-i%len(field)+plain]
			if !bytes.Equal(e.answer, p.answer) {
				return nil, fmt.Errorf("the answers over %s and over %s differ", all[i].name, field[plain].name)
			}
			measures = append(measures, besides(e.wall, p.wall, e.cpu, p.cpu, size))
		}
		return measures, nil
	})
	name(cases, analysis)
	return cases, err
}

// name puts what was measured before the names of cases.
func name(cases []Case, what string) {
	for i := range cases {
		cases[i].Name = what + ", " + cases[i].Name
	}
}

func besides(wall, plainWall, cpu, plainCPU time.Duration, size int64) []Measure {
	return []Measure{
		{"ratio", "", plainWall.Seconds() / wall.Seconds()},
		{"CPU times", "×", cpu.Seconds() / plainCPU.Seconds()},
		{"speed", "MB/s", rate(size, wall)},
		{"CPU", "s", cpu.Seconds()},
	}
}

// sockets says on which sockets the nodes of a contestant's cluster listen.
type sockets int

const (
	asConfigured sockets = iota
	unixSockets
	tcpWithoutKeys
	tcpWithKeys
)

// apply returns the configuration of a cluster on these sockets.
func (s sockets) apply(c *Config) (*Config, error) {
	own := *c
	switch s {
	case asConfigured:
		return c, nil
	case unixSockets:
		own.TCP, own.Keys = 0, false
		return &own, nil
	}
	own.Keys = s == tcpWithKeys
	if own.TCP > 0 {
		return &own, nil
	}
	var err error
	own.TCP, err = freeports.Row(mostPorts)
	return &own, err
}

// mostPorts is more than the number of ports on which nodes of the default topology listen.
const mostPorts = 40

// benchClient is the name of the client that measures. Its role allows every request.
const benchClient = "bench"

// makeKeys makes keys for all nodes of a topology and for the client that measures, and adds the client to the topology
// file.
func makeKeys(t *topology.Topology) error {
	now := time.Now()
	ca, err := security.NewCA(t.Name, now)
	if err != nil {
		return err
	}
	write := func(id security.Identity, pair security.Pair, err error) error {
		dir := filepath.Join(t.KeysDir, filepath.FromSlash(id.String()))
		if err == nil {
			err = security.WritePair(dir, pair)
		}
		if err == nil {
			err = security.WriteCAs(dir, ca.Certificate())
		}
		return err
	}
	for _, n := range t.Nodes() {
		pair, err := ca.Issue(n.Identity(), now)
		if err := write(n.Identity(), pair, err); err != nil {
			return err
		}
	}
	pair, err := security.NewClient(t.Name, benchClient, now)
	if err := write(security.Identity{Role: security.Client, Name: benchClient}, pair, err); err != nil {
		return err
	}
	f, err := os.OpenFile(t.File, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "\n[clients.%s]\nkey = %q\nrole = %q\n", benchClient, pair.Key.Fingerprint(), security.Operate)
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

// loadKeys loads the keys of a process of a measured cluster; nil in a cluster without keys.
func loadKeys(t *topology.Topology, id security.Identity) (*security.Keys, error) {
	if len(t.Clients) == 0 {
		return nil, nil
	}
	return security.Load(filepath.Join(t.KeysDir, filepath.FromSlash(id.String())), t.Name, t.TrustedClients())
}

func clientKeys(t *topology.Topology) (*security.Keys, error) {
	return loadKeys(t, security.Identity{Role: security.Client, Name: benchClient})
}

// clientConfig configures a client of a measured cluster.
func clientConfig(t *topology.Topology, analysis, dir string) (client.Config, error) {
	c := client.Config{Analysis: analysis, Dir: dir}
	for _, n := range t.Holding(topology.Input) {
		c.Entries = append(c.Entries, client.NamedEndpoint(n.Sockets.Client.Dial, string(n.ID)))
	}
	var err error
	c.Keys, err = clientKeys(t)
	return c, err
}
