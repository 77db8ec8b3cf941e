package values

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/progress"
)

// Compare compares two values of one type that are not NULL. NaN equals NaN and is the greatest, false is less than true, and texts
// are compared by bytes.
func Compare(a *eval.Vector, i int32, b *eval.Vector, j int32) int {
	switch a.Kind {
	case types.Double:
		return CompareFloats(a.Floats[i], b.Floats[j])
	case types.Bool:
		x, y := a.Bools[i], b.Bools[j]
		switch {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	case types.Text:
		return cmp.Compare(a.Texts[i], b.Texts[j])
	case types.Interval:
		m, d, us := normal(a.Intervals[i])
		n, e, vs := normal(b.Intervals[j])
		return cmp.Or(cmp.Compare(m, n), cmp.Compare(d, e), cmp.Compare(us, vs))
	case types.TextList:
		return compareLists(a.Lists[i], b.Lists[j])
	}
	return cmp.Compare(a.Ints[i], b.Ints[j])
}

// CompareFloats compares two DOUBLEs.
func CompareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	case x == x:
		return -1
	case y == y:
		return 1
	}
	return 0
}

// compareLists compares lists item by item, NULL last. A list is less than another one that continues it.
func compareLists(a, b eval.List) int {
	for i := range min(len(a.Items), len(b.Items)) {
		an, bn := a.Nulls != nil && a.Nulls[i], b.Nulls != nil && b.Nulls[i]
		c := 0
		switch {
		case an && bn:
		case an:
			c = 1
		case bn:
			c = -1
		default:
			c = cmp.Compare(a.Items[i], b.Items[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a.Items), len(b.Items))
}

// Key is a column that rows are ordered by.
type Key struct {
	V                *eval.Vector
	Desc, NullsFirst bool
}

func (k *Key) compare(i, j int32) int { return k.Against(i, k.V, j) }

// Against compares a value of the key with a value of another vector of its type.
func (k *Key) Against(i int32, v *eval.Vector, j int32) int {
	in, jn := k.V.IsNull(i), v.IsNull(j)
	if in || jn {
		switch {
		case in && jn:
			return 0
		case in == k.NullsFirst:
			return -1
		}
		return 1
	}
	c := Compare(k.V, i, v, j)
	if k.Desc {
		return -c
	}
	return c
}

// CompareRows compares two rows by keys.
func CompareRows(keys []Key, i, j int32) int {
	for k := range keys {
		if c := keys[k].compare(i, j); c != 0 {
			return c
		}
	}
	return 0
}

// prefixed is a row with a prefix of its first key.
type prefixed struct {
	prefix uint64
	row    int32
}

// Sort orders rows. Equal rows stay in the order of their numbers. Most comparisons need only the prefix. pause is called every few
// thousand comparisons.
func Sort(rows []int32, keys []Key, pause func()) {
	if len(keys) == 0 {
		slices.Sort(rows)
		return
	}
	list := make([]prefixed, len(rows))
	for i, r := range rows {
		list[i] = prefixed{keys[0].Prefix(r), r}
	}
	compared := 0
	slices.SortFunc(list, func(a, b prefixed) int {
		if compared++; compared%progress.Every == 0 {
			pause()
		}
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		if c := CompareRows(keys, a.row, b.row); c != 0 {
			return c
		}
		return cmp.Compare(a.row, b.row)
	})
	for i, p := range list {
		rows[i] = p.row
	}
}

// Prefix returns a number that is at most that of any later value in the order.
func (k *Key) Prefix(r int32) (p uint64) {
	if k.V.IsNull(r) {
		if k.NullsFirst {
			return 0
		}
		return math.MaxUint64
	}
	switch k.V.Kind {
	case types.Double:
		p = math.Float64bits(Positive(k.V.Floats[r]))
		if int64(p) < 0 {
			p = ^p
		} else {
			p |= 1 << 63
		}
	case types.Bool:
		if k.V.Bools[r] {
			p = 1
		}
	case types.Text:
		var b [8]byte
		copy(b[:], k.V.Texts[r])
		p = binary.BigEndian.Uint64(b[:])
	case types.Interval, types.TextList:
	default:
		p = uint64(k.V.Ints[r]) ^ 1<<63
	}
	if k.Desc {
		p = ^p
	}
	return p
}
