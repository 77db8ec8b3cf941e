package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// Options say how to run an analysis.
type Options struct {
	Params      map[string]string
	Joiners     int    // 0 is 1
	Aggregators int    // 0 is 1
	Memory      int    // limits.memory; 0: no limit
	ChunkBytes  int    // size of a chunk of CSV; 0 is 256 KiB, and with a seed chunks have any size up to it
	Seed        uint64 // 0 runs everything in order, without crashes

	// Cut returns a cutter for a file of a stream, which gives a header and chunks as [csv.Cutter] does. nil: the files are
	// CSV.
	Cut func(s *analyses.Stream, file io.Reader, chunkBytes, maxRecord int) (Cutter, error)
}

// Cutter cuts a file into chunks of whole records.
type Cutter interface {
	Header() ([]byte, error)
	Next(buf []byte) (chunk []byte, firstLine uint64, err error)
}

// Run computes the answers of a over the files of fsys.
func Run(a *analyses.Analysis, fsys fs.FS, o Options) (*answer.Answer, error) {
	r, err := newRunner(a, fsys, o)
	if err != nil {
		return nil, err
	}
	for stream := range a.Streams {
		if err := r.stream(stream); err != nil {
			return nil, fmt.Errorf("%s: stream %s: %w", a.Name, a.Streams[stream].Name, err)
		}
	}
	tables, err := r.reduce()
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		t.SetMemory(o.Memory)
	}
	return answer.Reduce(a, r.args, "local", tables)
}

type runner struct {
	memory   int // limits.memory
	a        *analyses.Analysis
	fsys     fs.FS
	args     analyses.Args
	chunk    int
	cut      func(s *analyses.Stream, file io.Reader, chunkBytes, maxRecord int) (Cutter, error)
	rand     *rand.Rand // nil: everything runs in order
	joiners  []analyses.Joiner
	forks    []map[int][]analyses.Joiner // by joiner, its forks by stream (analyses.Forker)
	deferred []bool                      // by joiner: it has not got the reference streams yet (Analysis.ReferenceLater)
	begun    int                         // streams with a lower index have ended
	refs     []frame                     // all reference batches
	sent     []*fold.Table               // tables of one flush, and of rejected rows
	folded   []*fold.Table               // tables that were folded where their rows were parsed
	parts    [][]*fold.Table             // by aggregator
	bags     [][]*fold.Waiting           // by aggregator: the bags from which tables are made
	all      []*fold.Table               // tables of the reducer
	waiting  []partial
	buf      []byte
}

// partial is some rows on their way to an aggregator.
type partial struct {
	table, to int
	payload   []byte
}

func newRunner(a *analyses.Analysis, fsys fs.FS, o Options) (*runner, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	args, err := a.Args(o.Params)
	if err != nil {
		return nil, err
	}
	r := &runner{a: a, memory: o.Memory, fsys: fsys, args: args, chunk: o.ChunkBytes, sent: newTables(a, fold.NewOutgoing),
		folded: newTables(a, fold.NewOutgoing), all: newTables(a, fold.NewUnion)}
	if r.chunk == 0 {
		r.chunk = 256 << 10
	}
	if r.cut = o.Cut; r.cut == nil {
		r.cut = cutCSV
	}
	if o.Seed != 0 {
		r.rand = rand.New(rand.NewPCG(o.Seed, 0))
	}
	for i := range max(1, o.Joiners) {
		j, err := a.NewJoiner(args, analyses.Replica{Index: i, Of: max(1, o.Joiners), Memory: o.Memory})
		if err != nil {
			return nil, err
		}
		r.joiners, r.deferred = append(r.joiners, j), append(r.deferred, false)
	}
	r.forks = make([]map[int][]analyses.Joiner, len(r.joiners))
	for i := range r.forks {
		r.forks[i] = map[int][]analyses.Joiner{}
	}
	for range max(1, o.Aggregators) {
		r.parts = append(r.parts, newTables(a, fold.NewTable))
		bags := make([]*fold.Waiting, len(a.Tables))
		for i := range bags {
			bags[i] = fold.NewWaiting(&a.Tables[i])
		}
		r.bags = append(r.bags, bags)
	}
	return r, nil
}

// newTables makes the tables of a, and the table of rejected rows after them.
func newTables(a *analyses.Analysis, empty func(*fold.Spec) *fold.Table) []*fold.Table {
	tables := make([]*fold.Table, 0, len(a.Tables)+1)
	for i := range a.Tables {
		tables = append(tables, empty(&a.Tables[i]))
	}
	return append(tables, empty(&analyses.RejectedSpec))
}

// chance is true once in n times; without a seed it is never true.
func (r *runner) chance(n int) bool { return r.rand != nil && r.rand.IntN(n) == 0 }

func (r *runner) stream(stream int) error {
	r.begun = stream
	readers, err := r.open(stream)
	if err != nil {
		return err
	}
	defer func() {
		for _, f := range readers {
			_ = f.Close() // nothing was written, so nothing is lost
		}
	}()
	for open := append([]*reader(nil), readers...); len(open) > 0; {
		i := pick(r.rand, len(open))
		f, buf, rejects, err := open[i].next(r.buf, r.rand != nil && !r.chance(3))
		r.buf = buf
		if errors.Is(err, io.EOF) {
			open = append(open[:i], open[i+1:]...)
			continue
		}
		if err != nil {
			return err
		}
		r.a.Streams[stream].AddRejects(&rejects, r.sent[len(r.a.Tables)])
		if err := r.handle(f); err != nil {
			return err
		}
	}
	if r.a.Streams[stream].Reference {
		if stream+1 < len(r.a.Streams) && r.a.Streams[stream+1].Reference {
			return nil // all reference streams end together, when every joiner has got them
		}
		return r.referencesEnded()
	}
	for i, j := range r.joiners {
		if r.deferred[i] {
			continue
		}
		if err := errors.Join(j.End(stream), r.flush(i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) open(stream int) ([]*reader, error) {
	found, err := sources(r.fsys, &r.a.Streams[stream])
	if err != nil {
		return nil, err
	}
	var readers []*reader
	for i := range found {
		chunk := r.chunk
		if r.rand != nil {
			chunk = 1 + r.rand.IntN(r.chunk)
		}
		f, err := r.reader(stream, &found[i], chunk)
		if err != nil {
			for _, f := range readers {
				_ = f.Close()
			}
			return nil, err
		}
		readers = append(readers, f)
	}
	return readers, nil
}

// handle keeps a reference batch, or gives a batch of facts to one joiner.
func (r *runner) handle(f frame) error {
	if r.a.Streams[f.stream].Reference {
		r.refs = append(r.refs, f)
		return nil
	}
	i := pick(r.rand, len(r.joiners))
	if err := r.catchUp(i); err != nil {
		return err
	}
	if f.folded != nil {
		if err := r.merge(f.folded); err != nil {
			return err
		}
	} else if err := r.fact(i, f); err != nil {
		return err
	}
	if r.rand != nil && !r.chance(4) {
		return nil
	}
	if err := r.flush(i); err != nil {
		return err
	}
	if r.chance(30) {
		return r.crash(i)
	}
	return nil
}

// fact gives the encoded rows to a joiner, or the rows as they were built to one of its forks, which it flushes at once.
func (r *runner) fact(i int, f frame) error {
	fork, err := r.fork(i, f.stream)
	if err != nil {
		return err
	}
	if fork != nil {
		return errors.Join(fork.Facts(f.stream, f.built, f.pos), fork.Flush(r.sent[:len(r.a.Tables)]))
	}
	b, err := batch.Decode(f.payload, r.a.Streams[f.stream].Schema)
	if err != nil {
		return err
	}
	return r.joiners[i].Facts(f.stream, b, f.pos)
}

// fork sometimes returns a fork of a joiner, either a new one or one used before, and otherwise nil.
func (r *runner) fork(i, stream int) (analyses.Joiner, error) {
	forker, ok := r.joiners[i].(analyses.Forker)
	if !ok || r.rand == nil || r.chance(2) {
		return nil, nil
	}
	all := r.forks[i][stream]
	if n := r.rand.IntN(3); n < len(all) {
		return all[n], nil
	}
	fork, err := forker.Fork(stream)
	if fork != nil {
		r.forks[i][stream] = append(all, fork)
	}
	return fork, err
}

// merge merges tables that the parser has folded, in the form in which they travel.
func (r *runner) merge(folded []*fold.Table) error {
	for i, t := range folded {
		if err := r.folded[i].Merge(t.AppendRows(nil, t.Rows())); err != nil {
			return err
		}
	}
	return nil
}

// referencesEnded gives all reference batches to every joiner that needs them now, each in an order of its own.
func (r *runner) referencesEnded() error {
	for i := range r.joiners {
		if r.deferred[i] = r.defers(i); r.deferred[i] {
			continue
		}
		if err := r.references(i); err != nil {
			return err
		}
		if err := r.flush(i); err != nil {
			return err
		}
	}
	return nil
}

// defers reports whether a joiner gets the reference batches only when facts come to it.
func (r *runner) defers(i int) bool { return r.a.ReferenceLater && i > 0 }

// catchUp gives the deferred reference batches to a joiner when its first facts come, and checks the promise of ReferenceLater.
func (r *runner) catchUp(i int) error {
	if !r.deferred[i] {
		return nil
	}
	r.deferred[i] = false
	if err := r.references(i); err != nil {
		return err
	}
	tables := newTables(r.a, fold.NewOutgoing)[:len(r.a.Tables)]
	if err := r.joiners[i].Flush(tables); err != nil {
		return err
	}
	for _, t := range tables {
		if t.Len() > 0 {
			return fmt.Errorf("%w: table %s has rows of joiner %d that no facts are in", errPromise, t.Spec().Name, i)
		}
	}
	return nil
}

// errPromise says that an answer would depend on which joiners get facts.
var errPromise = errors.New("the analysis promises ReferenceLater and does not keep it")

// references gives a joiner the reference batches, and calls End for every stream that has ended.
func (r *runner) references(i int) error {
	for _, n := range r.order(len(r.refs)) {
		f := r.refs[n]
		b, err := batch.Decode(f.payload, r.a.Streams[f.stream].Schema)
		if err != nil {
			return err
		}
		if err := r.joiners[i].Reference(f.stream, b, f.pos); err != nil {
			return err
		}
	}
	for stream := range r.a.Streams {
		if r.a.Streams[stream].Reference || stream < r.begun {
			if err := r.joiners[i].End(stream); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *runner) order(n int) []int {
	if r.rand != nil {
		return r.rand.Perm(n)
	}
	in := make([]int, n)
	for i := range in {
		in[i] = i
	}
	return in
}

// crash replaces a joiner that has nothing to flush by one that is rebuilt from the reference batches.
func (r *runner) crash(i int) error {
	j, err := r.a.NewJoiner(r.args, analyses.Replica{Index: i, Of: len(r.joiners), Memory: r.memory})
	if err != nil {
		return err
	}
	r.joiners[i], r.forks[i] = j, map[int][]analyses.Joiner{}
	if r.deferred[i] = r.defers(i); r.deferred[i] {
		return nil
	}
	if err := r.references(i); err != nil {
		return err
	}
	return j.Flush(newTables(r.a, fold.NewOutgoing)[:len(r.a.Tables)])
}
