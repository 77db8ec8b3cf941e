package sim

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/client/core"
	"posta.dev/posta/nodes/inplace"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
)

// Files that inputs read in place (S8). All machines see one file system, whose files may change at any time. Then a
// session may fail, but its answer must not be made of rows that no client has given. The product's own code cuts files
// and finds that they have changed.

// readsFiles reports whether inputs read files in the run of a seed.
func readsFiles(seed uint64) bool { return seed%8 == 0 }

// root is the directory of the files.
const root = "/data"

// inode is the content of a path.
type inode struct {
	text  string
	stamp protocol.Stamp
}

// placed is the files of a client's stream that inputs should read.
type placed struct {
	waiting []*placedFile
	under   int                         // that inputs have been given
	at      map[core.ConnID]*placedFile // by lane
	idle    []core.Want                 // lanes that wait until their file is read or refused
	changed bool                        // one of them was changed
}

type placedFile struct {
	core.File
	stream int
	pieces []piece // what is sent if no input reads it
}

// placeFiles chooses the files of a stream that inputs read. The client sends the others.
func (c *client) placeFiles(stream int) {
	r := c.w.faults.files
	if r == nil || c.w.rewiring.under {
		return
	}
	for i := range c.upload.files[stream] {
		f := &c.upload.files[stream][i]
		if r.IntN(4) == 0 || len(c.session.Roots(0)) == 0 {
			continue
		}
		p := &placedFile{stream: stream, File: core.File{
			File: f.name, Header: []byte(f.header), Path: fmt.Sprintf("%s/%d/%s", root, c.n, f.name), From: uint64(len(f.header) + 1), Line: 2,
		}}
		text := f.header + "\n"
		for _, row := range f.rows {
			text += row + "\n"
		}
		if c.w.disk == nil {
			c.w.disk = map[string]*inode{}
		}
		n := c.w.disk[p.Path]
		if n == nil {
			n = c.w.newInode(text)
			c.w.disk[p.Path] = n
		}
		p.Stamp = n.stamp
		c.pieces[stream] = slices.DeleteFunc(c.pieces[stream], func(x piece) bool {
			if x.file == f {
				p.pieces = append(p.pieces, x)
			}
			return x.file == f
		})
		if n.text != text { // it was changed before: an input finds another file, and the client sends this one
			c.pieces[stream] = append(c.pieces[stream], p.pieces...)
			continue
		}
		c.placed.waiting = append(c.placed.waiting, p)
		c.w.injected("file in place")
		if c.w.faults.filesChange && r.IntN(3) == 0 {
			c.w.After(time.Duration(r.Int64N(int64(5*time.Second))), func() { c.change(p.Path) })
		}
	}
}

func (w *world) newInode(text string) *inode {
	w.inodes++
	return &inode{text: text, stamp: protocol.Stamp{Size: uint64(len(text)), Modified: int64(w.At), Inode: w.inodes}}
}

// change changes a file, most often so that its rows are others.
func (c *client) change(path string) {
	if c.over {
		return
	}
	w, r := c.w, c.w.faults.files
	n := w.disk[path]
	w.injected("changed file")
	w.tracef("%s is changed", path)
	c.placed.changed = true
	touched := n.stamp.Modified + 1
	switch r.IntN(4) {
	case 0: // another file in its place
		w.disk[path] = w.newInode(strings.ToUpper(n.text))
		return
	case 1:
		n.text += "\nk1,1.25\n"
	case 2:
		n.text = n.text[:len(n.text)/2]
	case 3: // the same size, with other digits
		n.text = strings.Map(func(c rune) rune {
			if c == '1' {
				return '2'
			}
			return c
		}, n.text)
	}
	n.stamp.Size, n.stamp.Modified = uint64(len(n.text)), touched
}

// offerFile gives a lane a file, if there is one.
func (c *client) offerFile(to core.Want) bool {
	if len(c.placed.waiting) == 0 || c.placed.waiting[0].stream != to.Stream {
		return false
	}
	p := c.placed.waiting[0]
	c.placed.waiting = c.placed.waiting[1:]
	if c.placed.at == nil {
		c.placed.at = map[core.ConnID]*placedFile{}
	}
	c.placed.at[to.Conn] = p
	c.placed.under++
	c.event(func(now time.Time) { c.session.File(to.Lane, p.File, now) })
	return true
}

// fileEnded notes what happened to a file. The client sends a file that no input reads.
func (c *client) fileEnded(f core.FileEnd) {
	p := c.placed.at[f.Conn]
	delete(c.placed.at, f.Conn)
	c.placed.under--
	if f.Taken {
		c.w.injected("file read in place")
	} else {
		c.pieces[p.stream] = append(c.pieces[p.stream], p.pieces...)
	}
	idle := c.placed.idle
	c.placed.idle = nil
	for _, to := range idle {
		c.w.After(0, func() { c.offer(to) })
	}
}

// handle is an open file. It implements inplace.Source.
type handle struct {
	w    *world
	path string
	*inode
}

// ReadAt implements inplace.Source. It reads little at a time, because changes of bytes that were read ahead would not
// be noticed.
func (h *handle) ReadAt(p []byte, at int64) (int, error) {
	p = p[:min(len(p), 64)]
	return strings.NewReader(h.text).ReadAt(p, at)
}

// Is implements inplace.Source.
func (h *handle) Is() (protocol.Stamp, error) { return h.stamp, nil }

// There implements inplace.Source.
func (h *handle) There() (protocol.Stamp, error) { return h.w.disk[h.path].stamp, nil }

var _ io.ReaderAt = (*handle)(nil)

// fileRead is a file that a node reads.
type fileRead struct {
	role.Read
	cut   *inplace.Cutting
	busy  bool
	ended bool
}

// readFiles continues to read the files that the node wants, as package nodes does.
func (n *node) readFiles() {
	if n.w.faults.files == nil || !n.up {
		return
	}
	reads := map[role.ReadID]*fileRead{}
	for _, want := range n.shell.Reads() {
		r := n.reads[want.ID]
		if r == nil {
			r = &fileRead{Read: want}
		}
		reads[want.ID] = r
		n.readOn(r)
	}
	n.reads = reads
}

// readOn reads the next piece of a file if the node would take it now. The piece may still have to wait when it
// arrives.
func (n *node) readOn(r *fileRead) {
	if r.busy || r.ended || !n.shell.WantsPieces(r.Reference) {
		return
	}
	r.busy = true
	took := n.latency()
	if f := &n.w.faults; f.filesSlow && f.files.IntN(4) == 0 { // long enough for another client to take the session over
		n.w.injected("slow file")
		took += time.Duration(f.files.Int64N(int64(12 * time.Second)))
	}
	n.later(took, func() {
		if n.reads[r.ID] != r {
			return
		}
		p := n.piece(r)
		n.later(n.w.Between(0, 5*time.Millisecond), func() {
			if n.reads[r.ID] != r {
				return
			}
			pieces := []*role.Piece{p}
			var works []func()
			if n.w.faults.files.IntN(2) == 0 {
				works = n.shell.PreparePieces(pieces)
			}
			handOver := func() {
				for _, work := range works {
					work()
				}
				if n.reads[r.ID] == r { // else the piece comes nevertheless, and is of a file that is no longer wanted
					r.busy = false
				}
				n.fed = true
				n.shell.Pieces(n.now(), pieces)
				n.wake()
			}
			if len(works) > 0 {
				n.later(n.w.Between(0, 20*time.Millisecond), handOver) // as if done beside the loop: the session may end meanwhile
			} else {
				handOver()
			}
		})
	})
}

func (n *node) piece(r *fileRead) *role.Piece {
	fail := func(err error) *role.Piece {
		r.ended = true
		if r.cut == nil {
			return inplace.Failed(r.Read, err)
		}
		return r.cut.Failed(err)
	}
	if r.cut == nil {
		if n.w.faults.files.IntN(10) == 0 && !n.hasRead(r) {
			return fail(fs.ErrPermission)
		}
		cut, err := inplace.Begin(r.Read, &handle{n.w, r.Path, n.w.disk[r.Path]})
		if err != nil {
			return fail(err)
		}
		r.cut = cut
		if cut.Done() {
			r.ended = true
			return cut.End()
		}
	}
	p, err := r.cut.Next(nil, n.w.faults.files.IntN(4) == 0)
	if err != nil {
		return fail(err)
	}
	r.ended = r.cut.Done()
	return p
}

// hasRead reports whether a node has read a part of a file: a file that could be opened once can be opened again.
func (n *node) hasRead(r *fileRead) bool { return r.From > 0 && r.Line > 2 }
