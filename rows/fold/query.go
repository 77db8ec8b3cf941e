package fold

import "bytes"

// query is a set of keys that are looked up together. In a table that is larger than the caches, a search waits for memory
// three times: for the slot, for the place of the row's key, and for the key. Searches one after the other wait each time. If
// each step is done for all keys, the processor has many reads in flight. So merging large tables into larger ones takes half
// the time.
//
// The result of a prefetch is only a guess, because rows may be added after it. If the key itself confirms the guess, the
// guess is right. All other keys are looked up again.
type query struct {
	keys []byte   // end to end
	ends []int    // by key, its end in keys
	hash []uint64 // by key
	rows []uint32 // by key: the row that may have it, plus 1; 0 is none
	at   []uint64 // by key: the place of that row's key

	touched byte // keeps the compiler from removing the reads
}

// queryKept bounds the memory for keys that stays for the next query.
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

// prefetch reads the first slot of each key, then the places of the keys of the rows in these slots, then these keys.
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

// confirm returns the row that a prefetch has found for key i, if the row has this key.
func (x *index) confirm(q *query, i int, key []byte) (row int, ok bool) {
	if q.rows[i] == 0 {
		return 0, false
	}
	row = int(q.rows[i]) - 1
	return row, bytes.Equal(x.key(row), key)
}
