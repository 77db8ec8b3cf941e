package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"posta/topology"
)

// measureHop sends frames from a node to a node, over ZeroMQ and over each broker in turns: what one hop costs, durable on both
// sides. The nodes and their logs are the same; what lies between them is not.
func measureHop(ctx context.Context, c *Config) (done Section, err error) {
	field, skipped, err := c.field(ctx, func(x *contestant) bool { return x.name == first || slices.Contains(brokerNames, x.name) })
	if err != nil {
		return done, err
	}
	done.Skipped = skipped
	done.About = fmt.Sprintf("frames of %s from node to node, durable at both; times over those of %s in the same round", sizeName(hopSize), first)
	done.Cases = make([]Case, len(field))
	frames := max(1, min(int(c.Amount)/hopSize, maxFrames))
	for i := range field {
		done.Cases[i] = Case{Name: field[i].name}
	}
	for round := range 1 + c.Rounds {
		hops := make([]hop, len(field))
		for i := range field {
			at := (i + round) % len(field)
			if hops[at], err = field[at].hop(ctx, c, frames); err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return done, fmt.Errorf("%s, round %d: %w", field[at].name, round, err)
			}
		}
		if round > 0 {
			for i := range field {
				done.Cases[i].add(hops[i].measures(&hops[0], frames))
			}
		}
	}
	return done, nil
}

const hopSize = 1 << 10

// hop is what frames over one link have cost.
type hop struct {
	wall, cpu time.Duration
	written   int64
}

func (h *hop) measures(ours *hop, frames int) []Measure {
	return []Measure{
		{"frames", "/s", float64(frames) / h.wall.Seconds()},
		{"link", "MB/s", rate(int64(frames)*hopSize, h.wall)},
		{"times", "×", h.wall.Seconds() / ours.wall.Seconds()},
		{"CPU per frame", "µs", float64(h.cpu.Nanoseconds()) / 1e3 / float64(frames)},
		{"CPU times", "×", h.cpu.Seconds() / ours.cpu.Seconds()},
		{"written", "MB", float64(h.written) / 1e6},
	}
}

// hop starts two nodes, and the broker between them if there is one, sends some frames that do not count, and then those that do.
func (x *contestant) hop(ctx context.Context, c *Config, frames int) (h hop, err error) {
	dir, err := os.MkdirTemp(c.Dir, "h")
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	v := topology.Variant{Settings: map[string]string{}}
	for key, value := range c.Set {
		v.Settings[key] = value
	}
	label := x.name + "-hop"
	broker, err := x.serve(ctx, c, label, dir, v)
	if err != nil {
		return h, err
	}
	n, err := startCrew(ctx, c, label, "link", dir, linkTopology(c, dir, 1, v.Settings), broker)
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	b := &bench{c: c, crew: n, dir: dir, size: hopSize}
	if err := b.dial(); err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if _, err := b.send(ctx, max(1, frames/20)); err != nil { // queues are made, connections are open
		return h, err
	}
	cpu, written := b.cpu(), b.written()
	h.wall, err = b.send(ctx, frames)
	// The kernel counts in ticks: of what took less than one, it is not known that it took nothing.
	h.cpu, h.written = max(clockTick, b.cpu()-cpu), b.written()-written
	return h, err
}

// written is what all nodes, and the broker, have had written to disks.
func (b *bench) written() (total int64) {
	var pids []int
	for _, m := range b.crew.nodes {
		pids = append(pids, m.cmd.Process.Pid)
	}
	if b.crew.broker != nil {
		pids = append(pids, b.crew.broker.PIDs()...)
	}
	return usageOf(pids).written
}
