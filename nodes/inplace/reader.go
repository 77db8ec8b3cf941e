package inplace

import (
	"context"
	"sync"
	"time"

	"posta.dev/posta/nodes/role"
)

// Reader reads files. One goroutine, the node's loop, calls its methods.
type Reader struct {
	roots  []string
	files  map[role.ReadID]*file // the wanted files; a finished file stays until it is no longer wanted
	tables tables
	kinds  [2]kind
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // of the goroutines that read the files
}

// kind holds the pieces of facts, or those of reference streams. Each kind has its own memory, because facts may have
// to wait for reference data (R11).
type kind struct {
	pieces chan *role.Piece // with room for all pieces, so that those of one file can be parsed in parallel
	spare  chan []byte      // free buffers for pieces, nil at first; their number bounds the reading ahead
	parts  *room            // for parts of files of columns
}

// file is a file that its own goroutine reads.
type file struct {
	role.Read
	kind *kind
	stop context.CancelFunc
}

// New returns a reader that has at most ahead pieces of each kind in memory, beside the buffer of each file.
func New(roots []string, ahead int) *Reader {
	r := &Reader{roots: roots, files: map[role.ReadID]*file{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	for i := range r.kinds {
		r.kinds[i] = kind{pieces: make(chan *role.Piece, ahead), spare: make(chan []byte, ahead), parts: newRoom()}
		for range ahead {
			r.kinds[i].spare <- nil
		}
	}
	return r
}

func (r *Reader) kind(reference bool) *kind {
	if reference {
		return &r.kinds[1]
	}
	return &r.kinds[0]
}

// C delivers the pieces of reference streams, or those of facts. Some may be of files that are no longer wanted.
func (r *Reader) C(reference bool) <-chan *role.Piece { return r.kind(reference).pieces }

// Want reports which files are to be read. It begins to read new files, and stops reading those that are not in reads.
func (r *Reader) Want(reads []role.Read) {
	if len(reads) == 0 && len(r.files) == 0 {
		return
	}
	wanted := make(map[role.ReadID]bool, len(reads))
	for _, want := range reads {
		wanted[want.ID] = true
		if r.files[want.ID] == nil {
			r.begin(want)
		}
	}
	for id, f := range r.files {
		if !wanted[id] {
			f.stop()
			delete(r.files, id)
		}
	}
	if len(r.files) == 0 {
		r.forget()
	}
}

// forget frees the buffers when no file is read.
func (r *Reader) forget() {
	for i := range r.kinds {
		for range len(r.kinds[i].spare) {
			<-r.kinds[i].spare
			r.kinds[i].spare <- nil
		}
	}
}

// Release takes back the memory of pieces that are no longer used.
func (r *Reader) Release(pieces []*role.Piece) {
	for _, p := range pieces {
		if p.Chunk != nil {
			r.kind(p.Reference).spare <- p.Chunk.Data // never blocks: the buffer was taken from spare
			p.Chunk = nil
		}
	}
}

// Close ends all reading.
func (r *Reader) Close() {
	r.cancel()
	r.wg.Wait()
}

func (r *Reader) begin(want role.Read) {
	ctx, stop := context.WithCancel(r.ctx)
	f := &file{Read: want, kind: r.kind(want.Reference), stop: stop}
	r.files[want.ID] = f
	r.wg.Add(1)
	if want.Part >= 0 {
		r.beginPart(ctx, f)
		return
	}
	go func() {
		defer r.wg.Done()
		defer stop()
		f.run(ctx, r.roots)
	}()
}

// run reads the file to its end. It sends an error to the loop, unless the loop has stopped the reading.
func (f *file) run(ctx context.Context, roots []string) {
	o, err := open(roots, f.Path)
	if err != nil {
		f.send(ctx, Failed(f.Read, err))
		return
	}
	defer func() { _ = o.Close() }() // no error matters: the file was only read
	cut, err := Begin(f.Read, o)
	if err != nil {
		f.send(ctx, Failed(f.Read, err))
		return
	}
	if cut.Done() {
		f.send(ctx, cut.End())
		return
	}
	f.cut(ctx, cut)
}

// cut sends all pieces of the file or the part.
func (f *file) cut(ctx context.Context, cut *Cutting) {
	looked := time.Now()
	for goesOn := true; goesOn && !cut.Done(); {
		look := time.Since(looked) > lookEvery
		if look {
			looked = time.Now()
		}
		goesOn = f.piece(ctx, cut, look)
	}
}

// lookEvery is the interval of checks that the path still leads to the file.
const lookEvery = 250 * time.Millisecond

// piece reads one piece and sends it. It reports whether there may be more.
func (f *file) piece(ctx context.Context, cut *Cutting, look bool) (goesOn bool) {
	var memory []byte
	select {
	case memory = <-f.kind.spare:
	case <-ctx.Done():
		return false
	}
	p, err := cut.Next(memory, look)
	if err != nil {
		f.kind.spare <- memory
		f.send(ctx, cut.Failed(err))
		return false
	}
	if p.Chunk != nil {
		memory = p.Chunk.Data
	} else {
		f.kind.spare <- memory
	}
	if sent := f.send(ctx, p); sent || p.Chunk == nil {
		return sent
	}
	f.kind.spare <- memory
	return false
}

// send hands a piece to the loop, unless the file is no longer wanted.
func (f *file) send(ctx context.Context, p *role.Piece) (sent bool) {
	select {
	case f.kind.pieces <- p:
		return true
	case <-ctx.Done():
		return false
	}
}
