package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// measureHop measures what one hop costs: it sends frames from one node to another, over ZeroMQ and over each broker in
// turns, durable on both sides. The nodes and their logs are the same; only the transport between them differs.
func measureHop(ctx context.Context, c *Config) (done Section, err error) {
	field, skipped, err := c.participants(ctx, func(x *contestant) bool { return x.name == baseline || slices.Contains(brokerNames, x.name) })
	if err != nil {
		return done, err
	}
	done.Skipped = skipped
	done.About = fmt.Sprintf("frames of %s from node to node, durable at both; times over those of %s in the same round", sizeName(hopSize),
		baseline)
	frames := max(1, min(int(c.Amount)/hopSize, maxFrames))
	done.Cases, err = inTurns(ctx, c, append(field, unbatched(field)...), func(ctx context.Context, x *contestant) (hop, error) {
		return x.hop(ctx, c, x.share(frames), hopSize)
	}, func(hops []hop) (all [][]Measure, err error) {
		for i := range hops {
			all = append(all, hops[i].measures(&hops[0]))
		}
		return all, nil
	})
	for i := range done.Cases {
		done.Cases[i].About = "" // all are the same except for their name
	}
	return done, err
}

const hopSize = 1 << 10

// unbatched returns the contestants with brokers again, but with a message of the broker for each frame, as in a pipeline
// that was written for its broker. Posta itself packs several frames into a message of a broker, as it packs them into
// commits.
func unbatched(field []contestant) (more []contestant) {
	for _, x := range field {
		if x.broker == nil {
			continue
		}
		k := *x.broker
		k.settings = maps.Clone(k.settings)
		k.settings["rabbitmq.batch"], k.settings["nats.batch"] = "0B", "0B"
		x.name, x.broker, x.unbatched = x.name+", a message a frame", &k, true
		more = append(more, x)
	}
	return more
}

// share returns how many of the frames a contestant sends. With a message for each frame a few suffice, and with an fsync for
// each message all frames would take minutes.
func (x *contestant) share(frames int) int {
	if x.unbatched {
		return max(1, frames/8)
	}
	return frames
}

// hop is the cost of frames over one link.
type hop struct {
	frames    int
	size      int // of a frame, in bytes
	wall, cpu time.Duration
	written   int64
}

func (h *hop) measures(ours *hop) []Measure {
	n, each := float64(h.frames), float64(ours.frames)/float64(h.frames)
	return []Measure{
		{"frames", "/s", n / h.wall.Seconds()},
		{"link", "MB/s", rate(int64(h.frames)*int64(h.size), h.wall)},
		{"times", "×", h.wall.Seconds() / ours.wall.Seconds() * each},
		{"CPU per frame", "µs", float64(h.cpu.Nanoseconds()) / 1e3 / n},
		{"CPU times", "×", h.cpu.Seconds() / ours.cpu.Seconds() * each},
		{"written per frame", "B", float64(h.written) / n},
	}
}

// hop starts two nodes, and the broker between them if there is one. It sends some frames to warm up, and then the measured
// frames.
func (x *contestant) hop(ctx context.Context, c *Config, frames, size int) (h hop, err error) {
	if c, err = x.sockets.apply(c); err != nil {
		return h, err
	}
	b, err := dialLinks(ctx, c, clusterPlan{label: x.name + "-hop", verb: "link", broker: x.broker, text: linkTopology(1)})
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	b.size = size
	if _, err := b.send(ctx, max(1, frames/20)); err != nil { // after this, queues exist and connections are open
		return h, err
	}
	before := usageOf(b.cluster.pids()...)
	h.frames, h.size = frames, size
	h.wall, err = b.send(ctx, frames)
	spent := usageOf(b.cluster.pids()...).since(before)
	// The kernel counts CPU time in ticks. Less than one tick is unknown, not zero.
	h.cpu, h.written = max(clockTick, spent.cpu), spent.written
	return h, err
}
