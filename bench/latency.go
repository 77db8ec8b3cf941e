package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/topology"
)

// Small sessions, whose time does not depend on their rows.
const (
	latencyFacts    = 2000
	latencySessions = 50 // in a round; fewer if few facts are asked for
)

// measureLatency measures the time from an acknowledgement to its effect. First it does so for single chunks (see
// chunk_delay.go), on an idle cluster and on a busy one. Then it does so for small sessions on an idle cluster: from the
// moment when all chunks and ends of a session are durable until its answers are there. An answer needs the last end, so the
// time before the acknowledgement of this end belongs to the client.
func measureLatency(ctx context.Context, c *Config) (done Section, err error) {
	done.About = fmt.Sprintf(
		`from a chunk's acknowledgement until its effect is on the aggregator's disk, %d chunks of %d rows a round, idle, and busy with %d sessions
of bikes; and from the acknowledgement of the end of a session's last stream until its last answer, %d sessions a round of %d trips each`,
		c.probedChunks(), chunkRows, busySessions, c.latencySessions(), latencyFacts)
	s, err := workloadOf("bikes")
	if err != nil {
		return done, err
	}
	data, _, err := s.sanitizedData(c.Dir, latencyFacts)
	if err != nil {
		return done, err
	}
	right, err := runOracle(ctx, c, s, data)
	if err != nil {
		return done, err
	}
	load, err := c.loadData(ctx, s)
	if err != nil {
		return done, err
	}
	return c.durableClusters(ctx, done, func(ctx context.Context, x *contestant) (all []Measure, err error) {
		idle, busy, err := x.chunkDelays(ctx, c, load)
		if err != nil {
			return nil, err
		}
		sessions, err := x.sessions(ctx, c, s, data, right.answer)
		if err != nil {
			return nil, err
		}
		for _, m := range []struct {
			name  string
			times []time.Duration
		}{{"chunk", idle}, {"chunk, busy", busy}, {"session", sessions}} {
			all = append(all, Measure{m.name + " p50", "ms", percentile(m.times, 50)}, Measure{m.name + " p99", "ms", percentile(m.times, 99)})
		}
		return all, nil
	})
}

// probedChunks and latencySessions are the numbers of chunks and sessions in a round.
func (c *Config) probedChunks() int    { return c.fewer(probedChunks, chunkRows) }
func (c *Config) latencySessions() int { return c.fewer(latencySessions, latencyFacts) }

// fewer returns most, or less if few facts are asked for.
func (c *Config) fewer(most, factsEach int) int {
	if c.Rows > 0 {
		return max(1, min(most, c.Rows/factsEach))
	}
	return most
}

// percentile returns the value, in milliseconds, that share percent of the delays do not exceed.
func percentile(times []time.Duration, share int) float64 {
	times = slices.Sorted(slices.Values(times))
	return float64(times[(len(times)-1)*share/100].Microseconds()) / 1e3
}

// sessions measures the delays of small sessions, one after the other, on a new cluster.
func (x *contestant) sessions(ctx context.Context, c *Config, s *workload, data string, right json.RawMessage) ([]time.Duration, error) {
	o, _, err := x.runClient(ctx, c, x.name+"-latency", "latency", s.name(), data, fmt.Sprint(c.latencySessions()))
	if err != nil {
		return nil, err
	}
	if string(o.Answer) != string(right) {
		return nil, errAnswers
	}
	return o.Times, nil
}

// countOn reads the arguments of a client: a topology and how many times to do something.
func countOn(file, count string) (n int, t *topology.Topology, err error) {
	if n, err = strconv.Atoi(count); err != nil || n < 1 {
		return 0, nil, errUsage
	}
	t, err = topology.Load(file)
	return n, t, err
}

// runLatency is the client: one session after the other.
func runLatency(ctx context.Context, file, analysis, dir, count string) error {
	begin := time.Now()
	n, t, err := countOn(file, count)
	if err != nil {
		return err
	}
	cfg, err := clientConfig(t, analysis, dir)
	if err != nil {
		return err
	}
	var a *client.Answer
	var times []time.Duration
	for range n {
		var took time.Duration
		if a, took, err = oneSession(ctx, cfg); err != nil {
			return err
		}
		times = append(times, took)
	}
	return reportAnswer(begin, a, times)
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
