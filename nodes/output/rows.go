package output

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// The rows of an answer. Parts that arrive in order are kept as they are, one after the other. Rows that a reducer passed on (role.Passed)
// are gathered; each fileBytes of them are sorted and become a run. Parts or rows that reach fileBytes become a file. The file is written
// after the commit that completed it is stored, and is then dropped from memory. So a session takes some MiB here, however long its answer
// is.
type rows struct {
	files  []*file
	made   uint64 // number of files made so far, including dropped ones
	tail   []byte // parts that are not in a file yet
	items  []item // in the order in which clients read them
	sorted []*sorted
	size   uint64 // of the whole answer, in bytes
}

// file is a file that is saved or about to be saved.
type file struct {
	name  string
	size  int
	data  []byte // nil once saved
	small bool   // too small for a file: data stays in memory and in snapshots
}

// item is a part of an answer, or all rows of a query that are sorted here.
type item struct {
	file, at, n int // where the part is: index in files, offset, length
	sum         uint32
	sorted      *sorted // nil: a part
}

// inTail is item.file for parts that are still in rows.tail.
const inTail = -1

// sorted is a query whose rows come in any order.
type sorted struct {
	query   string
	columns []string   // set when it is complete
	order   role.Order // set with columns
	pending []byte     // rows that are not in a run yet, as in role.Passed
	rows    uint64
	runs    []int // indexes in files; each is a run
	done    bool

	reading *merge // the merge for clients' requests; not durable
	parts   uint64 // number of parts; 0 until all have been read once
}

const (
	// DefaultFileBytes is how many bytes of rows become a file. Larger files are fewer, and a merge needs a page of memory for each. But each
	// running session holds up to DefaultFileBytes in memory for its parts, and as much for each query that is sorted here.
	DefaultFileBytes = 4 << 20
	// smallFile: less than this fraction (1/64) of fileBytes stays in memory instead of a file.
	smallFile = 64
	// pageBytes is about how many bytes of a run are read at once.
	pageBytes = 8 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// add takes a payload from a reducer.
func (r *result) add(payload []byte, fileBytes int) error {
	if role.IsPassed(payload) {
		return r.addPassed(payload, fileBytes)
	}
	reply, err := protocol.DecodeReply(payload)
	if err != nil {
		return err
	}
	one := protocol.Reply{Type: protocol.Parts, State: session.Running, Parts: make([]protocol.Part, 1)}
	for _, p := range reply.Parts {
		one.Parts[0], one.Parts[0].N = p, 1
		at := len(r.tail)
		r.tail = one.Append(r.tail)
		b := r.tail[at:]
		r.items = append(r.items, item{file: inTail, at: at, n: len(b), sum: crc32.Checksum(b, castagnoli)})
		r.size += uint64(len(b))
		if len(r.tail) >= fileBytes {
			r.seal(fileBytes)
		}
	}
	return nil
}

// seal makes a file of the tail.
func (r *result) seal(fileBytes int) {
	number := r.file(r.tail, fileBytes)
	for i := len(r.items) - 1; i >= 0; i-- {
		if r.items[i].sorted == nil && r.items[i].file != inTail {
			break
		}
		r.items[i].file = number
	}
	r.tail = nil
}

// file adds a file, and returns its number.
func (r *result) file(data []byte, fileBytes int) int {
	r.made++
	// The name contains a checksum of the content. So a name always identifies the same content, even if this log was set back.
	name := fmt.Sprintf("%x-%d-%08x-%d", r.id[:], r.made, crc32.Checksum(data, castagnoli), len(data))
	r.files = append(r.files, &file{name: name, size: len(data), data: data, small: len(data) < fileBytes/smallFile})
	return len(r.files) - 1
}

func (r *result) addPassed(payload []byte, fileBytes int) error {
	p, err := role.ReadPassed(payload)
	if err != nil {
		return err
	}
	q := r.sortedQuery(p.Query)
	if q.done {
		return fmt.Errorf("rows of query %s behind its end", q.query)
	}
	for rest := p.Rows; len(rest) > 0; q.rows++ {
		if _, rest, err = role.CutRow(rest); err != nil {
			return err
		}
	}
	q.pending = append(q.pending, p.Rows...)
	r.size += uint64(len(p.Rows))
	if len(q.pending) >= fileBytes || p.Last && len(q.pending) > 0 {
		run, err := sortRun(q.pending, min(pageBytes, fileBytes/8))
		if err != nil {
			return err
		}
		q.runs = append(q.runs, r.file(run, fileBytes))
		q.pending = nil
	}
	if p.Last {
		q.done, q.columns, q.order = true, p.Columns, p.Order
		r.items = append(r.items, item{sorted: q})
	}
	return nil
}

func (r *result) sortedQuery(query string) *sorted {
	for _, q := range r.sorted {
		if q.query == query {
			return q
		}
	}
	q := &sorted{query: query}
	r.sorted = append(r.sorted, q)
	return q
}

// complete ends the answer: no more rows come.
func (r *result) complete(fileBytes int) {
	if len(r.tail) > 0 && len(r.tail) >= fileBytes/smallFile {
		r.seal(fileBytes)
	}
}

// inMemory returns how many bytes of an answer are in memory, permanently or until they are saved.
func (r *rows) inMemory() uint64 {
	n := len(r.tail)
	for _, f := range r.files {
		n += len(f.data)
	}
	for _, q := range r.sorted {
		n += len(q.pending)
	}
	return uint64(n)
}

// read fills p from a file, or from the tail.
func (r *result) read(from role.SavedReader, number, at int, p []byte) error {
	data := r.tail
	if number != inTail {
		f := r.files[number]
		if data = f.data; data == nil {
			return from.ReadFileAt(f.name, p, int64(at))
		}
	}
	if at+len(p) > len(data) {
		return errDamaged
	}
	copy(p, data[at:])
	return nil
}

var errDamaged = errors.New("it is damaged")

// part reads a part that came in its order.
func (r *result) part(from role.SavedReader, i *item) (protocol.Part, error) {
	b := make([]byte, i.n)
	err := r.read(from, i.file, i.at, b)
	if err == nil && crc32.Checksum(b, castagnoli) != i.sum {
		err = errDamaged
	}
	if err != nil {
		return protocol.Part{}, err
	}
	reply, err := protocol.DecodeReply(b)
	if err == nil && len(reply.Parts) != 1 {
		err = errDamaged
	}
	if err != nil {
		return protocol.Part{}, err
	}
	return reply.Parts[0], nil
}

// append appends the rows. Files are appended by name, as in a snapshot, which is saved after them (shell.Job). With content set, files
// that are not saved yet are appended with their content.
func (r *rows) append(b []byte, content bool) []byte {
	b = wire.AppendUint(b, r.made)
	b = wire.AppendUint(b, r.size)
	b = wire.AppendArray(b, len(r.files))
	for _, f := range r.files {
		b = wire.AppendArray(b, 3)
		b = wire.AppendUint(wire.AppendString(b, f.name), uint64(f.size))
		data := f.data
		if !f.small && !content {
			data = nil
		}
		b = wire.AppendBin(b, data) // no file is empty
	}
	b = wire.AppendBin(b, r.tail)
	b = wire.AppendArray(b, len(r.sorted))
	for _, q := range r.sorted {
		fields := 6
		if len(q.order) > 0 {
			fields = 7
		}
		b = wire.AppendArray(b, fields)
		b = wire.AppendString(b, q.query)
		b = wire.AppendArray(b, len(q.columns))
		for _, c := range q.columns {
			b = wire.AppendString(b, c)
		}
		b = wire.AppendBin(b, q.pending)
		b = wire.AppendUint(b, q.rows)
		b = wire.AppendArray(b, len(q.runs))
		for _, n := range q.runs {
			b = wire.AppendUint(b, uint64(n))
		}
		if b = wire.AppendBool(b, q.done); fields == 7 {
			b = q.order.Append(b)
		}
	}
	b = wire.AppendArray(b, len(r.items))
	for _, i := range r.items {
		if i.sorted != nil {
			b = wire.AppendUint(wire.AppendArray(b, 1), uint64(r.number(i.sorted)))
			continue
		}
		b = wire.AppendArray(b, 4)
		for _, n := range []uint64{uint64(i.file + 1), uint64(i.at), uint64(i.n), uint64(i.sum)} {
			b = wire.AppendUint(b, n)
		}
	}
	return b
}

// restore reads what append wrote. It keeps no memory of d.
func (r *rows) restore(d *wire.Reader, fileBytes int) {
	r.made, r.size = d.Uint(), d.Uint()
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(3)
		f := &file{name: d.String(), size: int(d.Uint())}
		if data := d.Bytes(); len(data) > 0 {
			f.data, f.small = bytes.Clone(data), len(data) < fileBytes/smallFile
		}
		r.files = append(r.files, f)
	}
	r.tail = bytes.Clone(d.Bytes())
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		fields := d.Array()
		if d.Err() == nil && fields != 6 && fields != 7 { // 7: with an order
			d.Fail("a sorted query of %d fields", fields)
		}
		q := &sorted{query: d.String()}
		for k := d.Array(); k > 0 && d.Err() == nil; k-- {
			q.columns = append(q.columns, d.String())
		}
		q.pending, q.rows = bytes.Clone(d.Bytes()), d.Uint()
		for k := d.Array(); k > 0 && d.Err() == nil; k-- {
			q.runs = append(q.runs, below(d, len(r.files)))
		}
		if q.done = d.Bool(); fields == 7 {
			q.order = role.ReadOrder(d, len(q.columns))
		}
		r.sorted = append(r.sorted, q)
	}
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		if k := d.Array(); k == 1 {
			if q := below(d, len(r.sorted)); d.Err() == nil {
				r.items = append(r.items, item{sorted: r.sorted[q]})
			}
		} else if k == 4 {
			r.items = append(r.items, item{file: below(d, len(r.files)+1) - 1, at: below(d, math.MaxInt32), n: below(d, math.MaxInt32),
				sum: uint32(d.Uint())})
		} else if d.Err() == nil {
			d.Fail("an item of %d fields", k)
		}
	}
}

// below reads a number that must be below n.
func below(d *wire.Reader, n int) int {
	if x := d.Uint(); d.Err() == nil && x < uint64(n) {
		return int(x)
	} else if d.Err() == nil {
		d.Fail("%d where at most %d can be", x, n-1)
	}
	return 0
}

func (r *rows) number(of *sorted) int {
	for i, q := range r.sorted {
		if q == of {
			return i
		}
	}
	panic("output: an item of a query that is not there")
}
