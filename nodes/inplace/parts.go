package inplace

import (
	"context"
	"runtime"
	"sync"

	"posta.dev/posta/client/source/format"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// tables are the files of columns that are open: all parts of a file that are read at once share what its footer says.
type tables struct {
	mu   sync.Mutex
	open map[tableKey]*table
}

type tableKey struct {
	session             session.ID
	stream, chunk, most int
	name, header, path  string
	stamp               protocol.Stamp
}

// table is one of the files.
type table struct {
	once    sync.Once
	src     *opened
	columns format.Parted
	err     error
	users   int // guarded by the lock of tables
}

// of returns a file of columns. The caller calls done when it has read its part.
func (t *tables) of(roots []string, read *role.Read) (_ *table, done func()) {
	key := tableKey{read.Session, read.Stream, read.Chunk, read.MaxRecord, read.File, string(read.Header), read.Path, read.Stamp}
	t.mu.Lock()
	of := t.open[key]
	if of == nil {
		if t.open == nil {
			t.open = map[tableKey]*table{}
		}
		of = &table{}
		t.open[key] = of
	}
	of.users++
	t.mu.Unlock()
	of.once.Do(func() { of.err = of.begin(roots, read) })
	return of, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if of.users--; of.users > 0 {
			return
		}
		if delete(t.open, key); of.src != nil {
			_ = of.src.Close() // no error matters: the file was only read
		}
	}
}

func (t *table) begin(roots []string, read *role.Read) (err error) {
	if t.src, err = open(roots, read.Path); err != nil {
		return err
	}
	c := &Cutting{read: *read, src: t.src}
	if err := c.same(t.src.Is()); err != nil {
		return c.error(err)
	}
	if t.columns, err = columnsOf(read, t.src); err != nil {
		return c.error(err)
	}
	return nil
}

// beginPart begins to read a part of a file of columns.
func (r *Reader) beginPart(ctx context.Context, f *file) {
	go func() {
		defer r.wg.Done()
		defer f.stop()
		t, done := r.tables.of(r.roots, &f.Read)
		defer done()
		if t.err != nil {
			f.send(ctx, Failed(f.Read, t.err))
			return
		}
		n := t.columns.Memory(f.Part)
		if !f.kind.parts.take(ctx, n) {
			return
		}
		defer f.kind.parts.give(n)
		c := &Cutting{read: f.Read, src: t.src}
		var err error
		if c.part, err = t.columns.Part(f.Part); err == nil {
			err = c.repeat()
		}
		if err != nil {
			f.send(ctx, c.Failed(c.error(err)))
			return
		}
		f.cut(ctx, c)
	}()
}

// partsMemory bounds what the pages of all parts take that are read at once, as far as footers tell. One is always read.
const partsMemory = 192 << 20

// room bounds how many parts are read at once: as many as there are cores, if they have room in memory.
type room struct {
	mu      sync.Mutex
	left    int64
	users   int
	least   int64
	changed chan struct{}
}

func newRoom() *room {
	return &room{left: partsMemory, least: partsMemory / int64(runtime.GOMAXPROCS(0)), changed: make(chan struct{})}
}

// take waits for room for a part; false if ctx has ended before.
func (r *room) take(ctx context.Context, bytes int64) bool {
	bytes = max(bytes, r.least)
	for {
		r.mu.Lock()
		if r.users == 0 || bytes <= r.left {
			r.users++
			r.left -= bytes
			r.mu.Unlock()
			return true
		}
		changed := r.changed
		r.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// give gives back what take has taken.
func (r *room) give(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.users--
	r.left += max(bytes, r.least)
	close(r.changed)
	r.changed = make(chan struct{})
}
