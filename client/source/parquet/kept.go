package parquet

import (
	"math/bits"
)

// kept says which of the next rows are kept. All are if it is nil.
type kept struct {
	rows *mask
	at   int // the next row

	valid mask // for block
}

// run returns how many of the next n rows are passed over, or how many are decoded at once. Where 64 rows have none that is kept, none is
// decoded.
func (k *kept) run(n int) (dead, alive int) {
	if k == nil {
		return 0, n
	}
	none := k.none(0, n)
	for i := 64; i < n; i += 64 {
		if k.none(i, n) != none {
			n = i
		}
	}
	if none {
		return n, 0
	}
	return 0, n
}

// none reports whether none of 64 rows is kept, from row i of the next n on.
func (k *kept) none(i, n int) bool {
	word := k.rows.word(k.at + i)
	if left := n - i; left < 64 {
		word &= 1<<left - 1
	}
	return word == 0
}

// has reports whether the next row is kept.
func (k *kept) has() bool { return k == nil || k.rows[k.at/64]>>(k.at%64)&1 != 0 }

// pass goes past n rows.
func (k *kept) pass(n int) {
	if k != nil {
		k.at += n
	}
}

// keptOf returns those values of the next n rows that are kept, in their place, and which rows have one. The values are those of the rows
// in valid, of all rows if it is nil.
func keptOf[T any](k *kept, values []T, valid []uint64, n int) (some []T, has []uint64) {
	if k == nil {
		return values, valid
	}
	words := (n + 63) / 64
	has = k.valid[:words]
	from, to := 0, 0
	for w := range has {
		there := ^uint64(0)
		if valid != nil {
			there = valid[w]
		}
		if left := n - 64*w; left < 64 {
			there &= 1<<left - 1
		}
		keep := k.rows.word(k.at+64*w) & there
		if has[w] = keep; keep == there {
			to += copy(values[to:], values[from:from+bits.OnesCount64(there)])
			keep = 0
		}
		for keep != 0 {
			values[to] = values[from+bits.OnesCount64(there&(keep&-keep-1))]
			to++
			keep &= keep - 1
		}
		from += bits.OnesCount64(there)
	}
	if to == from {
		return values, valid
	}
	return values[:to], has
}

// word returns the 64 bits from a row on.
func (m *mask) word(at int) uint64 {
	if at/64 >= len(m) {
		return 0
	}
	word := m[at/64] >> (at % 64)
	if at%64 > 0 && at/64+1 < len(m) {
		word |= m[at/64+1] << (64 - at%64)
	}
	return word
}
