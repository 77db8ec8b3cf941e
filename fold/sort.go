package fold

import (
	"bytes"
	"cmp"
	"slices"
)

// Rows returns all rows in the order they were added.
func (t *Table) Rows() []int {
	rows := make([]int, t.Len())
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// Sorted returns all rows in order of less; rows that it leaves equal, or all if it is nil, in order of their keys: key by
// key as in the spec, texts by bytes, numbers by value. The order is total, since keys are distinct.
func (t *Table) Sorted(less func(a, b int) bool) []int {
	rows := t.Rows()
	slices.SortFunc(rows, func(a, b int) int {
		switch {
		case less != nil && less(a, b):
			return -1
		case less != nil && less(b, a):
			return 1
		}
		return t.compare(a, b)
	})
	return rows
}

func (t *Table) compare(a, b int) int {
	p, q := t.index.key(a), t.index.key(b)
	for k, key := range t.spec.Keys {
		c := 0
		if key.Kind == KeyInt {
			c = cmp.Compare(t.key.intAt(p, k), t.key.intAt(q, k))
		} else {
			c = bytes.Compare(t.key.textAt(p, k), t.key.textAt(q, k))
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// Partition returns the rows of each of n partitions: a row belongs to the hash of its key bytes ([Hash]) modulo n.
func (t *Table) Partition(n int) [][]int {
	count := make([]int, n)
	for _, h := range t.index.hash {
		count[h%uint64(n)]++
	}
	parts := make([][]int, n)
	for p := range parts {
		parts[p] = make([]int, 0, count[p])
	}
	for row, h := range t.index.hash {
		p := h % uint64(n)
		parts[p] = append(parts[p], row)
	}
	return parts
}
