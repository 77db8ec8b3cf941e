package values

import (
	"encoding/binary"
	"math"
	"math/bits"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// Rows that are kept in files for a while have the form of columns. Nothing but the program that has written them reads them. All numbers
// are little-endian:
//
//	block    rows u32, then the columns
//	column   what it has u8: 0 nothing, 1 values, 2 values, of which some are NULL; in the last case a bit of each row, in bytes
//	         BIGINT, DECIMAL, DATE, TIMESTAMP   numbers
//	         DOUBLE                             the bits of each row, u64: -0 and every NaN come back as they were
//	         BOOLEAN                            a byte of each row
//	         TEXT                               their lengths as numbers, then their bytes
//	         INTERVAL                           numbers: the months of each row; then the days, then the microseconds
//	         TEXT[]                             of each row that is not NULL: how many items, then of each item 0 for NULL, or 1 plus its
//	                                            length and its bytes; all uvarints
//	numbers  the least u64, how many bytes each has u8, then each less the least
//
// Values of rows that are NULL are 0 or empty.

const (
	noColumn = iota
	allThere
	someNull
)

// MostInBlock bounds the rows of a block.
const MostInBlock = 1 << 16

// AppendBlock appends rows of some columns, of which those that are nil stay nil.
func AppendBlock(b []byte, columns []*eval.Vector, rows []int32) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(rows)))
	for _, v := range columns {
		b = appendColumn(b, v, rows)
	}
	return b
}

func appendColumn(b []byte, v *eval.Vector, rows []int32) []byte {
	if v == nil {
		return append(b, noColumn)
	}
	nulls := make([]byte, (len(rows)+7)/8)
	some := byte(allThere)
	if v.Any {
		for k, r := range rows {
			if v.IsNull(r) {
				nulls[k>>3] |= 1 << (k & 7)
				some = someNull
			}
		}
	}
	if b = append(b, some); some == someNull {
		b = append(b, nulls...)
	}
	there := func(k int) bool { return some == allThere || nulls[k>>3]>>(k&7)&1 == 0 }
	switch v.Kind {
	case types.Double:
		for k, r := range rows {
			f := uint64(0)
			if there(k) {
				f = math.Float64bits(v.Floats[r])
			}
			b = binary.LittleEndian.AppendUint64(b, f)
		}
	case types.Bool:
		for k, r := range rows {
			if there(k) && v.Bools[r] {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
		}
	case types.Text:
		b = appendNumbers(b, numbers(rows, there, func(r int32) int64 { return int64(len(v.Texts[r])) }))
		for k, r := range rows {
			if there(k) {
				b = append(b, v.Texts[r]...)
			}
		}
	case types.Interval:
		b = appendNumbers(b, numbers(rows, there, func(r int32) int64 { return int64(v.Intervals[r].Months) }))
		b = appendNumbers(b, numbers(rows, there, func(r int32) int64 { return int64(v.Intervals[r].Days) }))
		b = appendNumbers(b, numbers(rows, there, func(r int32) int64 { return v.Intervals[r].Micros }))
	case types.TextList:
		for k, r := range rows {
			if there(k) {
				b = appendList(b, v.Lists[r])
			}
		}
	default:
		b = appendNumbers(b, numbers(rows, there, func(r int32) int64 { return v.Ints[r] }))
	}
	return b
}

func numbers(rows []int32, there func(k int) bool, of func(r int32) int64) []int64 {
	list := make([]int64, len(rows))
	for k, r := range rows {
		if there(k) {
			list[k] = of(r)
		}
	}
	return list
}

func appendNumbers(b []byte, list []int64) []byte {
	if len(list) == 0 {
		return b
	}
	low, high := list[0], list[0]
	for _, n := range list {
		low, high = min(low, n), max(high, n)
	}
	width := (bits.Len64(uint64(high)-uint64(low)) + 7) / 8
	b = append(binary.LittleEndian.AppendUint64(b, uint64(low)), byte(width))
	for _, n := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(n)-uint64(low))[:len(b)+width]
	}
	return b
}

func appendList(b []byte, l eval.List) []byte {
	b = binary.AppendUvarint(b, uint64(len(l.Items)))
	for i, s := range l.Items {
		if l.Nulls != nil && l.Nulls[i] {
			b = append(b, 0)
			continue
		}
		b = append(binary.AppendUvarint(b, uint64(len(s))+1), s...)
	}
	return b
}

// ReadBlock returns the columns that AppendBlock has appended, and how many rows they have. Their texts share one piece of memory, and none
// with b.
func ReadBlock(b []byte, kinds []types.Kind) (columns []*eval.Vector, n int, err error) {
	if len(b) < 4 {
		return nil, 0, ErrMalformed
	}
	r := blockReader{b: b[4:], n: int(binary.LittleEndian.Uint32(b))}
	if r.n > MostInBlock {
		return nil, 0, ErrMalformed
	}
	columns = make([]*eval.Vector, len(kinds))
	for i, k := range kinds {
		columns[i] = r.column(k)
	}
	if r.bad || len(r.b) > 0 {
		return nil, 0, ErrMalformed
	}
	return columns, r.n, nil
}

type blockReader struct {
	b   []byte
	n   int
	bad bool
}

// take returns the next bytes; nil if there are not that many.
func (r *blockReader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b) {
		r.bad = true
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *blockReader) column(kind types.Kind) *eval.Vector {
	has := r.take(1)
	if r.bad || has[0] == noColumn {
		return nil
	}
	v := eval.NewVector(kind, r.n)
	if has[0] == someNull {
		for k, eight := range r.take((r.n + 7) / 8) {
			v.Nulls[k>>3] |= uint64(eight) << (8 * (k & 7))
		}
		v.Any = true
	}
	switch kind {
	case types.Double:
		for k := 0; k < r.n && !r.bad; k++ {
			if p := r.take(8); p != nil {
				v.Floats[k] = math.Float64frombits(binary.LittleEndian.Uint64(p))
			}
		}
	case types.Bool:
		for k, x := range r.take(r.n) {
			v.Bools[k] = x == 1
		}
	case types.Text:
		r.texts(v)
	case types.Interval:
		months, days, micros := make([]int64, r.n), make([]int64, r.n), make([]int64, r.n)
		r.numbers(months)
		r.numbers(days)
		r.numbers(micros)
		for k := range v.Intervals {
			v.Intervals[k] = plan.Interval{Months: int32(months[k]), Days: int32(days[k]), Micros: micros[k]}
		}
	case types.TextList:
		for k := range int32(r.n) {
			if !v.IsNull(k) {
				v.Lists[k] = r.list()
			}
		}
	default:
		r.numbers(v.Ints)
	}
	return v
}

// numbers fills a slice.
func (r *blockReader) numbers(to []int64) {
	if len(to) == 0 {
		return
	}
	head := r.take(9)
	if r.bad || head[8] > 8 {
		r.bad = true
		return
	}
	low, width := binary.LittleEndian.Uint64(head), int(head[8])
	p := r.take(width * len(to))
	if r.bad {
		return
	}
	mask := uint64(1)<<(8*width) - 1 // of 8 bytes too: a shift by 64 gives 0
	for k := range to {
		var d uint64
		if at := k * width; at+8 <= len(p) {
			d = binary.LittleEndian.Uint64(p[at:]) & mask
		} else {
			var last [8]byte
			copy(last[:], p[at:at+width])
			d = binary.LittleEndian.Uint64(last[:])
		}
		to[k] = int64(low + d)
	}
}

func (r *blockReader) texts(v *eval.Vector) {
	lengths := make([]int64, r.n)
	r.numbers(lengths)
	total := int64(0)
	for _, n := range lengths {
		if total += n; n < 0 || total > int64(len(r.b)) {
			r.bad = true
			return
		}
	}
	all := string(r.take(int(total)))
	for k, n := range lengths {
		v.Texts[k], all = all[:n], all[n:]
	}
}

func (r *blockReader) uvarint() int {
	n, used := binary.Uvarint(r.b)
	if used <= 0 || n > uint64(len(r.b)) {
		r.bad = true
		return 0
	}
	r.b = r.b[used:]
	return int(n)
}

func (r *blockReader) list() eval.List {
	l := eval.List{}
	for i, n := 0, r.uvarint(); i < n && !r.bad; i++ {
		size := r.uvarint()
		if l.Items = append(l.Items, ""); size == 0 {
			if l.Nulls == nil {
				l.Nulls = make([]bool, n)
			}
			l.Nulls[i] = true
			continue
		}
		l.Items[i] = string(r.take(size - 1))
	}
	return l
}
