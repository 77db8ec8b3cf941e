package fold

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"posta.dev/posta/rows/progress"
)

// Rows returns all rows in the order in which they were added.
func (t *Table) Rows() []int {
	rows := make([]int, t.Len())
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// Sorted returns all rows in the order of less. Rows that less leaves equal are in the order of their keys, and so are all rows if
// less is nil: key by key as in the spec, texts by bytes, numbers by value. The order is total, because keys are distinct. Equal
// rows of a bag are equal in everything.
func (t *Table) Sorted(less func(a, b int) bool) []int {
	if less == nil {
		return t.byKey()
	}
	rows := t.Rows()
	slices.SortFunc(rows, func(a, b int) int {
		t.step()
		switch {
		case less(a, b):
			return -1
		case less(b, a):
			return 1
		}
		return t.compare(a, b, 0)
	})
	return rows
}

// place is a row with the beginning of its first key, as a number in the order of the keys. Most comparisons need only this
// number, which is in contiguous memory, while the keys are spread over the blocks.
type place struct {
	prefix uint64
	row    uint32
}

func (t *Table) byKey() []int {
	rows := t.Rows()
	t.SortByKey(rows)
	return rows
}

// SortByKey sorts some rows as Sorted(nil) sorts all of them.
func (t *Table) SortByKey(rows []int) {
	if len(t.spec.Keys) == 0 {
		return
	}
	known := 0 // how many keys a prefix holds completely
	if t.spec.Keys[0].Kind == KeyInt && !t.spec.Nulls {
		known = 1
	}
	places := make([]place, len(rows))
	for i, row := range rows {
		places[i] = place{t.Prefix(row), uint32(row)}
	}
	slices.SortFunc(places, func(a, b place) int {
		t.step()
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return t.compare(int(a.row), int(b.row), known)
	})
	for i := range places {
		rows[i] = int(places[i].row)
	}
}

// Prefix returns the beginning of a row's first key as a number: of two rows, the one with the smaller number comes first in Sorted(nil).
// Without keys there is none.
func (t *Table) Prefix(row int) uint64 {
	p := t.index.key(row)
	if t.key.nullsAt(p)&1 == 1 {
		return math.MaxUint64
	}
	if t.spec.Keys[0].Kind == KeyInt {
		return uint64(t.key.intAt(p, 0)) ^ 1<<63
	}
	v := t.key.textAt(p, 0)
	if len(v) >= 8 {
		return binary.BigEndian.Uint64(v)
	}
	var padded [8]byte // a text gets the same number as one that continues with zeros: compare orders these
	copy(padded[:], v)
	return binary.BigEndian.Uint64(padded[:])
}

// CompareKeys compares two rows by their keys, in the order of Sorted(nil).
func (t *Table) CompareKeys(a, b int) int { return t.compare(a, b, 0) }

// compare compares two rows by their keys, starting at key from; earlier keys must be equal. A sort compares each pair of
// neighbours in its result, so it always finds two rows with the same key.
func (t *Table) compare(a, b, from int) int {
	p, q := t.index.key(a), t.index.key(b)
	nulls := t.key.nullsAt(p) ^ t.key.nullsAt(q)
	for k := from; k < len(t.spec.Keys); k++ {
		if nulls>>k&1 == 1 {
			return cmp.Compare(t.key.nullsAt(p)>>k&1, t.key.nullsAt(q)>>k&1)
		}
		c := 0
		if t.spec.Keys[k].Kind == KeyInt {
			c = cmp.Compare(t.key.intAt(p, k), t.key.intAt(q, k))
		} else {
			c = bytes.Compare(t.key.textAt(p, k), t.key.textAt(q, k))
		}
		if c != 0 {
			return c
		}
	}
	if t.mode == trusts && a != b {
		t.failDuplicate(max(a, b))
	}
	return 0
}

// Partition returns the rows of each of n partitions. A row belongs to the hash ([Hash]) modulo n of its key bytes, or of those of
// its first Spec.PartitionBy keys. Rows of a bag without PartitionBy belong to no partition and stay together: each call gives all
// of them to the next partition.
func (t *Table) Partition(n int) [][]int {
	if n == 1 || t.spec.Merge == Never && t.spec.PartitionBy == 0 {
		parts := make([][]int, n)
		parts[t.turn%n] = t.Rows()
		t.turn = (t.turn + 1) % n
		return parts
	}
	return t.split(n, func(h uint64) int { return int(h % uint64(n)) })
}

// split divides all rows into n sets, by the hash of the keys that partition them.
func (t *Table) split(n int, of func(hash uint64) int) [][]int { return t.splitRows(t.Rows(), n, of) }

// splitRows divides some rows.
func (t *Table) splitRows(rows []int, n int, of func(hash uint64) int) [][]int {
	parts := make([][]int, n)
	part, count := make([]uint32, len(rows)), make([]int, n)
	var scratch []byte
	for i, row := range rows {
		if i%progress.Every == 0 {
			progress.Mark()
		}
		to := of(t.spreads(row, &scratch))
		part[i] = uint32(to)
		count[to]++
	}
	for p := range parts {
		parts[p] = make([]int, 0, count[p])
	}
	for i, p := range part {
		parts[p] = append(parts[p], rows[i])
	}
	return parts
}

// spreads returns the hash of the keys of a row that partition the table.
func (t *Table) spreads(row int, scratch *[]byte) uint64 {
	p := t.index.key(row)
	if by := t.spec.PartitionBy; by > 0 && by < len(t.spec.Keys) {
		if t.index.flat.width > 0 {
			var first [MaxKeys*intPlace + 2]byte
			n := copy(first[:], p[:by*intPlace])
			if t.spec.Nulls {
				nulls := t.key.nullsAt(p) & (1<<by - 1)
				first[n], first[n+1] = byte(nulls), byte(nulls>>8)
				n += nullBytes(by)
			}
			return Hash(first[:n])
		}
		*scratch = t.key.first((*scratch)[:0], p, by)
		p = *scratch
	}
	return Hash(p)
}
