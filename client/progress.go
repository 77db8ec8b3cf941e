package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"posta.dev/posta/client/core"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// State is what a run is doing.
type State string

// The states of a run, in their order.
const (
	Connecting State = "connecting"
	Busy       State = "waiting for the cluster to have room"
	InUse      State = "waiting until the session's other client has been silent for 5 s"
	Comparing  State = "comparing the files with what was sent of them"
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

	Retries  uint64   // requests that were repeated
	HeldBack bool     // an input answers pings but is slow to acknowledge a chunk: the cluster is busier than the client
	Silent   []string // inputs that answer nothing while a request to them is repeated
}

// StreamProgress is how far one stream has come. Read and Total are bytes on the disk (compressed ones for a packed file); Acked
// counts what is in chunks, uncompressed. Total is below 0 if the size of a source is not known.
type StreamProgress struct {
	Name        string
	Files       int
	Read, Total int64
	Chunks      uint64 // acknowledged
	Acked       int64  // bytes of records that the cluster has made durable
	InPlace     int64  // those of them that inputs have read in place (S8)
	Ended       bool
	// from its beginning to its end at every input; 0 until then, and for one that ended before the session was resumed
	Took time.Duration
}

// progressInterval is how often progress is reported.
const progressInterval = 200 * time.Millisecond

// reading counts what the readers have read.
type reading struct {
	mu      sync.Mutex // guards streams, whose counters are atomic
	streams []*streamCounters
}

type streamCounters struct {
	name  string
	files atomic.Int64
	read  atomic.Int64
	total atomic.Int64
}

func (r *reading) begin(streams []protocol.Stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.streams = nil
	for _, stream := range streams {
		r.streams = append(r.streams, &streamCounters{name: stream.Name})
	}
}

func (r *reading) stream(i int) *streamCounters {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.streams[i]
}

func (r *reading) progress() (all []StreamProgress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.streams {
		all = append(all, StreamProgress{Name: t.name, Files: int(t.files.Load()), Read: t.read.Load(), Total: t.total.Load()})
	}
	return all
}

// Progress returns how far the run has come. It may be called at any time, by anyone.
func (c *Client) Progress() Progress {
	streams := c.reading.progress()
	c.mu.Lock()
	defer c.mu.Unlock()
	from := c.session.Progress(c.now())
	p := Progress{Session: c.cfg.Session, State: c.doing, Streams: streams, Rows: c.rows, Retries: from.Retries, HeldBack: from.HeldBack,
		Silent: from.Silent}
	if from.Busy {
		p.State = Busy
	}
	if from.InUse {
		p.State = InUse
	}
	for i := range min(len(streams), len(from.Streams)) {
		acked := from.Streams[i]
		streams[i].Chunks, streams[i].Acked, streams[i].Ended = acked.Chunks, acked.Bytes, acked.Ended
		streams[i].InPlace, streams[i].Took = acked.InPlace, acked.Took
		streams[i].Read += acked.InPlace
	}
	return p
}

// filesRead returns how many bytes of all files have been read, out of how many. Both are 0 if the files are not known yet, or the size of
// one that is still being read. The caller holds the lock.
func (c *Client) filesRead(now time.Time) (read, size uint64) {
	if c.sending == nil && c.session.Phase() != core.Uploaded {
		return 0, 0
	}
	streams, from := c.reading.progress(), c.session.Progress(now).Streams
	for i := range min(len(streams), len(from)) {
		has, of := max(0, streams[i].Read+from[i].InPlace), streams[i].Total
		switch {
		case from[i].Ended: // of a Parquet file not everything is read, and a file may have grown
			of = max(has, of)
			has = of
		case of < 0:
			return 0, 0
		default:
			has = min(has, of) // where only the beginning of a file is sent, a little more of it is read
		}
		read, size = read+uint64(has), size+uint64(of)
	}
	return read, size
}

func (c *Client) state(now State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doing = now
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
