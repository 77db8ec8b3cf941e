package fold

import "bytes"

// query is some keys that are looked for together. In a table that no cache holds a search waits for memory three times: for the
// slot, for where the row's key is, and for the key. One search after the other waits each time anew; step by step for all of them the
// processor has many of these reads under way at once. Merging large tables into larger ones takes half the time that way.
//
// What a prefetch saw is only a guess, since rows are added between it and the look at the key: a guess that is confirmed by the
// key itself is right whatever happened meanwhile, and all others are looked for again.
type query struct {
	keys []byte   // end to end
	ends []int    // of each in keys
	hash []uint64 // of each
	rows []uint32 // the row that may be it, plus 1; 0 is none
	at   []uint64 // the place of that row's key

	touched byte // keeps the compiler from leaving the reads out
}

// queryKept is how much memory for keys stays for the next query.
const queryKept = 1 << 20

func (q *query) reset() {
	if cap(q.keys) > queryKept {
		q.keys = nil
	}
	q.keys, q.ends, q.hash = q.keys[:0], q.ends[:0], q.hash[:0]
}

// close ends the key that was appended to keys.
func (q *query) close() {
	q.ends = append(q.ends, len(q.keys))
	q.hash = append(q.hash, Hash(q.key(len(q.ends)-1)))
}

func (q *query) key(i int) []byte {
	start := 0
	if i > 0 {
		start = q.ends[i-1]
	}
	return q.keys[start:q.ends[i]]
}

func (q *query) memory() int {
	return cap(q.keys) + 8*cap(q.ends) + 8*cap(q.hash) + 4*cap(q.rows) + 8*cap(q.at)
}

// prefetch looks at the first slot of each key, then at where the keys of the rows in them begin, then at these.
func (x *index) prefetch(q *query) {
	q.rows, q.at = q.rows[:0], q.at[:0]
	for _, h := range q.hash {
		tag := tagOf(h)
		s := x.slots[x.home(tag)]
		if s>>32 != tag {
			s = 0
		}
		q.rows = append(q.rows, uint32(s))
	}
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

// confirm returns the row that a prefetch has found for key i, if it is that key's.
func (x *index) confirm(q *query, i int, key []byte) (row int, ok bool) {
	if q.rows[i] == 0 {
		return 0, false
	}
	row = int(q.rows[i]) - 1
	return row, bytes.Equal(x.key(row), key)
}
