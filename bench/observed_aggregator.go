package bench

import (
	"context"
	"fmt"
	"time"

	"posta.dev/posta/nodes"
	"posta.dev/posta/nodes/aggregator"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/topology"
)

// observedAggregator is the product's aggregator, which also answers a request when a chunk of rowsByChunk has had its
// effect: when the commit with the last of the chunk's rows is on the aggregator's disk. It has no clock: the client
// measures the time.
type observedAggregator struct {
	*aggregator.Aggregator
	stub   stubRole // the methods of a gateway that gets no other requests
	watch  map[session.ID]bool
	seen   map[int64]int64 // how many rows were accepted, by chunk
	waiter role.Peer
	until  int64 // the chunk that a request waits for; 0: no request waits
}

var _ role.Gateway = (*observedAggregator)(nil)

// withObserver returns the chain of a node with the aggregator replaced by an observed one.
func withObserver(c nodes.Config) func(topology.Node) ([]role.Role, error) {
	return func(n topology.Node) ([]role.Role, error) {
		roles, err := nodes.Chain(c, n)
		for i := range roles {
			if a, is := roles[i].(*aggregator.Aggregator); is {
				roles[i] = &observedAggregator{Aggregator: a, watch: map[session.ID]bool{}, seen: map[int64]int64{}}
			}
		}
		return roles, err
	}
}

// runEffectNode runs a node of a cluster that can be asked for effects. All roles except the aggregator's are the product's.
func runEffectNode(ctx context.Context, file, name string) error {
	t, err := topology.Load(file)
	if err != nil {
		return err
	}
	c := nodes.Config{Topology: t, Known: append(known(), rowsByChunk), Version: "bench"}
	c.Roles = withObserver(c)
	return runNode(ctx, file, name, c)
}

func encodeWatch(chunk int) []byte { return fmt.Appendf(nil, "wait for chunk %d", chunk) }

// Request implements role.Gateway.
func (w *observedAggregator) Request(_ time.Time, r *role.Request) bool {
	var chunk int64
	if _, err := fmt.Sscanf(string(r.Body), "wait for chunk %d", &chunk); err != nil {
		return false // the request is for the output, which is in the same node
	}
	w.waiter, w.until = r.From, chunk
	w.answerWaiter()
	return true
}

// Open implements role.Role.
func (w *observedAggregator) Open(s role.Session) error {
	if s.Analysis.Name == rowsByChunk.Name {
		w.watch[s.ID] = true
	}
	return w.Aggregator.Open(s)
}

// Take implements role.Role.
func (w *observedAggregator) Take(id session.ID, m role.Message, out role.Emitter) (durable bool, err error) {
	if w.watch[id] {
		if err := w.countRows(m.Payload); err != nil {
			return false, err
		}
	}
	durable, err = w.Aggregator.Take(id, m, out)
	w.answerWaiter()
	return durable, err
}

// countRows counts the rows that a partial result contains. A surplus row means that a record was counted twice.
func (w *observedAggregator) countRows(partial []byte) error {
	tables := role.NewTables(rowsByChunk, fold.NewTable)
	if err := role.Merge(tables, partial); err != nil {
		return err
	}
	t := tables[0]
	for _, row := range t.Rows() {
		chunk := t.KeyInt(row, 0)
		if w.seen[chunk] += t.Sum(row, 0); w.seen[chunk] > chunkRows {
			return fmt.Errorf("chunk %d has %d rows, %d were sent", chunk, w.seen[chunk], chunkRows)
		}
	}
	return nil
}

func (w *observedAggregator) answerWaiter() {
	if w.until > 0 && w.seen[w.until] == chunkRows {
		w.until = 0
		w.stub.host.ReplyStored(w.waiter, []byte("ok"))
	}
}

// Drop implements role.Role.
func (w *observedAggregator) Drop(id session.ID, why role.Outcome) {
	if w.watch[id] {
		delete(w.watch, id)
		clear(w.seen)
	}
	w.Aggregator.Drop(id, why)
}

func (w *observedAggregator) Attach(h role.Host)       { w.stub.Attach(h) }
func (w *observedAggregator) Tick(now time.Time)       { w.stub.Tick(now) }
func (w *observedAggregator) TakenOver(s role.Session) { w.stub.TakenOver(s) }

func (w *observedAggregator) Forget(id session.ID, by role.Asker) { w.stub.Forget(id, by) }
func (w *observedAggregator) Apply(p []byte) error                { return w.stub.Apply(p) }
func (w *observedAggregator) SnapshotAll(dst []byte) []byte       { return w.stub.SnapshotAll(dst) }
func (w *observedAggregator) RestoreAll(data []byte) error        { return w.stub.RestoreAll(data) }
func (w *observedAggregator) Running() int                        { return w.stub.Running() }
