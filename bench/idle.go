package bench

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"
)

const (
	idleAbout = `what an idle cluster takes for one thing at a time: a frame over one link, durable at both ends; a chunk, from its acknowledgement until its effect
is on the aggregator's disk; the answers of a small session, from the acknowledgement of its last end; beside an append of 4 KiB to a plain file and its fsync`
	idleFrame = 1 << 10
	idlePiece = 4 << 10
)

// measureIdle measures whether an idle cluster delays commits. Each line has the percentiles of one round, and how many
// fsyncs of the same round fit into its median.
func measureIdle(ctx context.Context, c *Config) ([]Case, error) {
	s, err := workloadOf("bikes")
	if err != nil {
		return nil, err
	}
	data, _, err := s.sanitizedData(c.Dir, latencyFacts)
	if err != nil {
		return nil, err
	}
	right, err := runOracle(ctx, c, s, data)
	if err != nil {
		return nil, err
	}
	cases := []Case{{Name: "plain append + fsync"}, {Name: "hop"}, {Name: "chunk"}, {Name: "session"}}
	for _, counts := range c.rounds() {
		times, err := c.idleTimes(ctx, s, data, right.answer)
		if err != nil {
			return nil, err
		}
		for i := range cases {
			if counts {
				p50 := percentile(times[i], 50)
				cases[i].add([]Measure{
					{"p50", "ms", p50}, {"p90", "ms", percentile(times[i], 90)}, {"p99", "ms", percentile(times[i], 99)},
					{"fsyncs", "×", p50 / percentile(times[0], 50)},
				})
			}
		}
	}
	return cases, nil
}

// idleTimes returns the times of one round, in the order of the lines.
func (c *Config) idleTimes(ctx context.Context, s *workload, data string, right json.RawMessage) (times [4][]time.Duration, err error) {
	x := defaultTopology()
	if times[1], err = c.hopDelays(ctx); err != nil {
		return times, err
	}
	if times[0], err = plainDelays(c.Dir, c.probedChunks()); err != nil { // between the others, so that the disk is in the same state for all
		return times, err
	}
	if times[2], err = x.idleChunkDelays(ctx, c); err != nil {
		return times, err
	}
	times[3], err = x.sessions(ctx, c, s, data, right)
	return times, err
}

// hopDelays returns, for one frame at a time, the time from the order to send it until it is durable at the receiver.
func (c *Config) hopDelays(ctx context.Context) (times []time.Duration, err error) {
	b, err := dialLinks(ctx, c, clusterPlan{label: "idle-hop", verb: "link", text: linkTopology(1)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	b.size = idleFrame
	if _, err := b.send(ctx, 1); err != nil { // after this, connections are open
		return nil, err
	}
	tick := time.NewTicker(effectPace)
	defer tick.Stop()
	for range c.probedChunks() {
		<-tick.C
		took, err := b.send(ctx, 1)
		if err != nil {
			return nil, err
		}
		times = append(times, took)
	}
	return times, nil
}

// plainDelays returns the times of an append to a file with its fsync, as often per second as in the other measurements.
func plainDelays(dir string, n int) (times []time.Duration, err error) {
	f, err := os.CreateTemp(dir, "plain")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	tick := time.NewTicker(effectPace)
	defer tick.Stop()
	for range n {
		<-tick.C
		begin := time.Now()
		if _, err = f.Write(make([]byte, idlePiece)); err == nil {
			err = f.Sync()
		}
		if err != nil {
			return nil, err
		}
		times = append(times, time.Since(begin))
	}
	return times, nil
}
