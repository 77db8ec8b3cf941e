package fold

import (
	"encoding/binary"

	"posta.dev/posta/rows/batch"
)

// query is a set of keys that are looked up together. In a table that is larger than the caches, a search waits for memory
// three times: for the slot, for the place of the row's key, and for the key. Searches one after the other wait each time. If
// each step is done for all keys, the processor has many reads in flight. So merging large tables into larger ones takes half
// the time.
//
// The result of a prefetch is only a guess, because rows may be added after it. If the key itself confirms the guess, the
// guess is right. All other keys are looked up again.
type query struct {
	width int      // bytes of each key; 0: they have different lengths
	keys  []byte   // end to end
	ends  []int    // by key, its end in keys; unused if width is not 0
	hash  []uint64 // by key
	rows  []uint32 // by key: the row that may have it, plus 1; 0 is none
	at    []uint64 // by key: the place of that row's key

	touched byte // keeps the compiler from removing the reads
}

// queryKept bounds the memory for keys that stays for the next query.
const queryKept = 1 << 20

func (q *query) reset(width int) {
	if cap(q.keys) > queryKept {
		q.keys = nil
	}
	q.width, q.keys, q.ends = width, q.keys[:0], q.ends[:0]
}

// hashAll hashes the first n keys, which a search needs.
func (q *query) hashAll(n int) {
	if q.hash = q.hash[:0]; q.width > 0 {
		q.hashFlat(n)
		return
	}
	for i := range n {
		q.hash = append(q.hash, Hash(q.key(i)))
	}
}

func (q *query) key(i int) []byte {
	if q.width > 0 {
		return q.keys[i*q.width : (i+1)*q.width]
	}
	start := 0
	if i > 0 {
		start = q.ends[i-1]
	}
	return q.keys[start:q.ends[i]]
}

func (q *query) memory() int {
	return cap(q.keys) + 8*cap(q.ends) + 8*cap(q.hash) + 4*cap(q.rows) + 8*cap(q.at)
}

// keySource is the keys of some rows, by column: those of a partial from row first on, or those of vectors in the rows of sel.
type keySource struct {
	columns [MaxKeys]keyColumn
	sel     []int32 // nil for a partial
	first   int
	nulls   []int64 // by row: which of its keys are NULL, bit k for key k; empty: no key of any row
}

// keyColumn is one key. A number is in ints, a text in texts or in strings. texts has all rows of a partial, and ints only those from first
// on.
type keyColumn struct {
	ints    []int64
	texts   batch.Texts
	strings []string // in place of texts, if not nil
	decoded []int64  // memory for ints of partials
}

// gather makes the key bytes of the first n rows of a source, or of fewer if their texts are long, and returns of how many. It does what
// KeyBuilder does without KeyBuilder's checks, because the source has the columns of the spec.
func (q *query) gather(b *KeyBuilder, from *keySource, n int) int {
	q.reset(b.width())
	if q.width > 0 {
		q.gatherFlat(b, from, n)
		return n
	}
	return q.gatherTexts(b, from, n)
}

// gatherFlat goes column by column, as all keys have the same length.
func (q *query) gatherFlat(b *KeyBuilder, from *keySource, n int) {
	if size := n * q.width; cap(q.keys) < size {
		q.keys = make([]byte, size)
	} else {
		q.keys = q.keys[:size]
	}
	for k := range b.keys {
		at, ints := b.places[k], from.columns[k].ints
		if from.sel == nil {
			for _, v := range ints[:n] {
				binary.LittleEndian.PutUint64(q.keys[at:], uint64(v))
				at += q.width
			}
			continue
		}
		for _, i := range from.sel[:n] {
			binary.LittleEndian.PutUint64(q.keys[at:], uint64(ints[i]))
			at += q.width
		}
	}
	if len(from.nulls) == 0 {
		for place := b.nulls; place < b.fixed; place++ {
			for at := place; at < len(q.keys); at += q.width {
				q.keys[at] = 0
			}
		}
		return
	}
	for i := range n {
		key, nulls := q.key(i), uint16(from.nulls[i])
		b.putNulls(key, nulls)
		for k := range b.keys {
			if nulls>>k&1 == 1 {
				binary.LittleEndian.PutUint64(key[b.places[k]:], 0)
			}
		}
	}
}

// gatherBytes bounds the bytes of keys with texts that are gathered at once, unless one key alone has more.
const gatherBytes = 1 << 18

func (q *query) gatherTexts(b *KeyBuilder, from *keySource, n int) int {
	var fixed [MaxKeys*intPlace + 2]byte
	for i := range n {
		row, nulls := i, uint16(0)
		if from.sel != nil {
			row = int(from.sel[i])
		}
		if len(from.nulls) > 0 {
			nulls = uint16(from.nulls[i])
		}
		start := len(q.keys)
		q.keys = append(q.keys, fixed[:b.fixed]...)
		for k := range b.keys {
			if nulls>>k&1 == 1 {
				continue
			}
			place, c := start+b.places[k], &from.columns[k]
			if b.keys[k].Kind == KeyInt {
				binary.LittleEndian.PutUint64(q.keys[place:], uint64(c.ints[row]))
				continue
			}
			before := len(q.keys)
			if c.strings == nil {
				q.keys = append(q.keys, c.texts.At(from.first+row)...)
			} else {
				q.keys = append(q.keys, c.strings[row]...)
			}
			binary.LittleEndian.PutUint32(q.keys[place:], uint32(len(q.keys)-before))
		}
		b.putNulls(q.keys[start:], nulls)
		if q.ends = append(q.ends, len(q.keys)); len(q.keys) >= gatherBytes {
			return i + 1
		}
	}
	return n
}

// prefetch reads the first slot of each key, then the places of the keys of the rows in these slots, then these keys.
func (x *index) prefetch(q *query) {
	q.rows = q.rows[:0]
	for _, h := range q.hash {
		tag := tagOf(h)
		s := x.slots[x.home(tag)]
		if s>>32 != tag {
			s = 0
		}
		q.rows = append(q.rows, uint32(s))
	}
	if x.flat.width > 0 {
		for _, row := range q.rows {
			if row > 0 {
				q.touched += x.flat.from(int(row)-1, 0)[0]
			}
		}
		return
	}
	q.at = q.at[:0]
	for _, row := range q.rows {
		at := uint64(0)
		if row > 0 {
			at = *x.at.at(int(row) - 1)
		}
		q.at = append(q.at, at)
	}
	for i, at := range q.at {
		if q.rows[i] != 0 {
			if p := x.keys.from(at); len(p) > 0 {
				q.touched += p[0]
			}
		}
	}
}

// search is find for key i of a query that was prefetched.
func (x *index) search(q *query, i int, key []byte) (row int, slot uint64, found bool) {
	if q.rows[i] != 0 {
		if row = int(q.rows[i]) - 1; x.has(row, key) {
			return row, 0, true
		}
	}
	return x.find(key, q.hash[i])
}
