package operators

import (
	"errors"
	"fmt"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/rows/progress"
	"posta.dev/posta/rows/scratch"
)

// Batch is some rows of a node on their way from one operator to the next: those in Sel.
type Batch struct {
	Columns    []*eval.Vector // one that is not read may be nil
	N          int            // of rows, of which Sel are on their way
	Sel        []int32        // ascends. A [Source] leaves it nil: all rows
	File, Line *eval.Vector   // where each row comes from; nil if it does not come straight from a table
}

// Source gives the rows of a plan's lowest nodes.
type Source interface {
	// Has reports whether the source gives the rows of n. It must give the rows of every Scan. If it gives those of another node, such
	// as an Aggregation that was computed elsewhere, nothing below that node is computed.
	Has(n plan.Node) bool
	// Read passes the rows of n to yield in their order. If yield returns an error, Read returns it; the error may mean that
	// no more rows are needed. Read may be called several times for a node. The source may reuse vectors after yield has
	// returned, but not the memory of texts.
	Read(n plan.Node, yield func(*Batch) error) error
}

// ErrMemory is returned if a plan keeps more bytes than its limit.
var ErrMemory = errors.New("too many rows to keep in memory")

// Executor computes the rows of plans over one source.
type Executor struct {
	source     Source
	limit      int64
	fixed      int64          // bound on what cannot move to files, if something can
	held, soft int64          // what is kept, and what of it can move to files
	disk       scratch.Disk   // nil: nothing moves
	files      map[*file]bool // that exist
	keepers    int            // nodes that keep rows
	uses       map[plan.Node]int
	shared     map[plan.Node]*shelf
	subqueries map[*plan.Subquery]*subquery
	rows       counting
	pause      func() // see SetPause
	meter      *eval.Meter
}

// New makes an executor for plans, which may share nodes. It may keep at most limit bytes.
func New(source Source, limit int64, plans ...plan.Node) *Executor {
	x := &Executor{source: source, limit: limit, fixed: limit, uses: map[plan.Node]int{}, shared: map[plan.Node]*shelf{},
		files: map[*file]bool{}, subqueries: map[*plan.Subquery]*subquery{}, pause: progress.Mark, meter: eval.NewMeter()}
	exprs := map[plan.Expr]bool{}
	for _, p := range plans {
		x.count(p, exprs)
	}
	return x
}

// Close removes the files that are left: those of nodes that others share, and all of them if the executor has been stopped in the middle
// of its work. The executor must not be used afterwards.
func (x *Executor) Close() {
	for _, s := range x.shared {
		s.release()
	}
	for f := range x.files {
		f.remove()
	}
}

// SetPause makes the executor call pause every few thousand rows, instead of making a mark (N9), so that other sessions get a
// turn during a long Run.
func (x *Executor) SetPause(pause func()) { x.pause, x.meter.Pause = pause, pause }

// Limit lowers the bounds on what functions make to limits.memory; 0 is no limit.
func (x *Executor) Limit(memory int) { x.meter.Limit(memory) }

// count counts how many nodes read each node.
func (x *Executor) count(n plan.Node, exprs map[plan.Expr]bool) {
	if x.uses[n]++; x.uses[n] > 1 || x.source.Has(n) {
		return
	}
	x.keeps(n)
	for _, e := range plan.Exprs(n) {
		x.countExpr(e, exprs)
	}
	for _, in := range plan.Inputs(n) {
		x.count(in, exprs)
	}
}

func (x *Executor) countExpr(e plan.Expr, seen map[plan.Expr]bool) {
	if e == nil || seen[e] {
		return
	}
	seen[e] = true
	if s, ok := e.(*plan.Subquery); ok {
		x.count(s.Plan, seen)
	}
	for _, c := range plan.Children(e) {
		x.countExpr(c, seen)
	}
}

// Run returns the rows of a plan that was given to New. They belong to the caller, and are no longer counted.
func (x *Executor) Run(root plan.Node) (*Batch, error) {
	s, err := x.collect(root)
	if err != nil {
		return nil, err
	}
	s.release()
	return &Batch{Columns: s.columns, N: s.n}, nil
}

// Each passes the rows of a plan that was given to New to yield, in batches that are valid during the call.
func (x *Executor) Each(root plan.Node, yield func(b *Batch) error) error {
	return x.stream(root, yield)
}

// hold counts bytes that are kept from now on, and cannot move to files.
func (x *Executor) hold(bytes int64) error {
	x.held += bytes
	if x.disk == nil && x.held > x.limit {
		return fmt.Errorf("%w: more than %d MiB; narrow the rows by WHERE, or group them first", ErrMemory, x.limit>>20)
	}
	if x.disk != nil && x.held-x.soft > x.fixed {
		return fmt.Errorf("%w: more than %d MiB that cannot move to files, which are the rows of one window, the groups of an aggregation with "+
			"their aggregates, or the values of a query in an expression; narrow the rows by WHERE, or make windows and groups smaller",
			ErrMemory, x.fixed>>20)
	}
	return nil
}

// counted is how many of the executor's bytes something that is kept takes.
type counted struct {
	x     *Executor
	bytes int64
	soft  bool // it moves to files when it is full
}

// hold counts bytes that are kept from now on.
func (c *counted) hold(bytes int64) error {
	c.bytes += bytes
	if c.soft && c.x.disk != nil {
		c.x.held, c.x.soft = c.x.held+bytes, c.x.soft+bytes
		return nil
	}
	return c.x.hold(bytes)
}

// release stops counting what is kept.
func (c *counted) release() {
	if c.soft && c.x.disk != nil {
		c.x.soft -= c.bytes
	}
	c.x.held -= c.bytes
	c.bytes = 0
}

// all returns the numbers from 0 up to n.
func (x *Executor) all(n int) []int32 { return x.rows.of(n) }

// counting is 0, 1, 2, …
type counting []int32

// of returns the numbers from 0 up to n.
func (all *counting) of(n int) []int32 {
	for i := len(*all); i < n; i++ {
		*all = append(*all, int32(i))
	}
	return (*all)[:n]
}
