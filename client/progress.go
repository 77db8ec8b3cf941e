package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// State is what a run is doing.
type State string

// The states of a run, in their order.
const (
	Connecting State = "connecting"
	Busy       State = "waiting for the cluster to have room"
	Uploading  State = "uploading"
	Computing  State = "computing"
	Finished   State = "finished"
)

// Progress is how far a run has come.
type Progress struct {
	Session session.ID
	State   State
	Streams []StreamProgress
	Rows    uint64 // of answers received

	Retries  uint64   // requests said again
	HeldBack bool     // an input answers pings but takes its time over a chunk: the cluster is busier than we are
	Silent   []string // inputs that a chunk waits for and that say nothing at all
}

// StreamProgress is how far one stream has come. Read and Total are bytes as they lie on the disk (compressed ones for
// gzip); Acked counts what is in chunks, uncompressed. Total is below 0 when a source does not know its size.
type StreamProgress struct {
	Name        string
	Files       int
	Read, Total int64
	Chunks      uint64 // acknowledged
	Acked       int64  // bytes of records that the cluster has made durable
	Ended       bool
}

// progressInterval is how often progress is reported.
const progressInterval = 200 * time.Millisecond

// counters is where the parts of a run write down what they did; the streams' counters are atomic, the rest has a lock.
type counters struct {
	session session.ID
	rows    atomic.Uint64

	mu      sync.Mutex
	now     State
	streams []*streamCounters
}

type streamCounters struct {
	name   string
	files  atomic.Int64
	read   atomic.Int64
	total  atomic.Int64
	chunks atomic.Uint64
	acked  atomic.Int64
	ended  atomic.Bool
}

func newCounters(id session.ID) *counters { return &counters{session: id, now: Connecting} }

func (s *counters) state(now State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

func (s *counters) begin(streams []protocol.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = nil
	for _, stream := range streams {
		s.streams = append(s.streams, &streamCounters{name: stream.Name})
	}
}

func (s *counters) stream(i int) *streamCounters {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[i]
}

func (s *counters) progress() Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := Progress{Session: s.session, State: s.now, Rows: s.rows.Load()}
	for _, t := range s.streams {
		p.Streams = append(p.Streams, StreamProgress{Name: t.name, Files: int(t.files.Load()), Read: t.read.Load(),
			Total: t.total.Load(), Chunks: t.chunks.Load(), Acked: t.acked.Load(), Ended: t.ended.Load()})
	}
	return p
}

// Progress returns how far the run has come. It may be called at any time, by anyone.
func (c *Client) Progress() Progress {
	p := c.counters.progress()
	p.Retries = c.retries.Load()
	inputs, _, lanes := c.connections()
	waiting := make([]bool, len(inputs))
	for _, l := range lanes {
		waiting[l.input] = waiting[l.input] || l.conn.repeating()
	}
	for i, input := range inputs {
		switch silent := input.ownReply.silence() > 2*longestPing+2*c.cfg.Timeout; {
		case silent && (waiting[i] || input.repeating()):
			p.Silent = append(p.Silent, input.endpoint)
		case waiting[i]:
			p.HeldBack = true
		}
	}
	return p
}

// report calls OnProgress until ctx ends, and once more then.
func (c *Client) report(ctx context.Context) {
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.cfg.OnProgress(c.Progress())
		case <-ctx.Done():
			c.cfg.OnProgress(c.Progress())
			return
		}
	}
}
