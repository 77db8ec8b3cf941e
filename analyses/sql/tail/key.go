package tail

import (
	"encoding/binary"
	"math"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
)

// appendKey appends a value's key. Keys are equal if and only if the values are: NULL equals NULL, NaN equals NaN, -0 equals
// 0, and 30 days equal a month.
func appendKey(b []byte, v *eval.Vector, row int32) []byte {
	if v == nil || v.IsNull(row) {
		return append(b, 0)
	}
	b = append(b, 1)
	switch v.Kind {
	case types.Double:
		return binary.BigEndian.AppendUint64(b, math.Float64bits(positive(v.Floats[row])))
	case types.Bool:
		if v.Bools[row] {
			return append(b, 1)
		}
		return append(b, 0)
	case types.Text:
		return appendText(b, v.Texts[row])
	case types.Interval:
		m, d, us := normal(v.Intervals[row])
		b = binary.BigEndian.AppendUint64(b, uint64(m))
		return binary.BigEndian.AppendUint64(append(b, byte(d)), uint64(us))
	case types.TextList:
		l := v.Lists[row]
		b = binary.AppendUvarint(b, uint64(len(l.Items)))
		for i, s := range l.Items {
			if l.Nulls != nil && l.Nulls[i] {
				b = append(b, 0)
				continue
			}
			b = appendText(append(b, 1), s)
		}
		return b
	}
	return binary.BigEndian.AppendUint64(b, uint64(v.Ints[row]))
}

// positive maps equal DOUBLEs to the same bits: -0 to 0, and every NaN to one.
func positive(f float64) float64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.NaN()
	}
	return f
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

const microsPerDay = 24 * 60 * 60 * 1_000_000

// normal returns an interval with 0 to 29 days and less than a day of microseconds, because intervals are compared as if every month had 30
// days.
func normal(i plan.Interval) (months, days, micros int64) {
	days, micros = floorDiv(i.Micros, microsPerDay)
	days += int64(i.Days)
	months, days = floorDiv(days, 30)
	return months + int64(i.Months), days, micros
}

func floorDiv(a, b int64) (q, r int64) {
	q, r = a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}

// index numbers distinct keys in the order in which they come.
type index struct {
	counted
	ids map[string]int32
	key []byte
}

func (x *Executor) newIndex() *index { return &index{counted: counted{x: x}, ids: map[string]int32{}} }

// indexEntry is roughly how many bytes a map's entry takes in addition to its key.
const indexEntry = 48

// id returns the number of the key in ix.key, and whether it is new.
func (ix *index) id() (id int32, fresh bool, err error) {
	id, ok := ix.ids[string(ix.key)]
	if ok {
		return id, false, nil
	}
	id = int32(len(ix.ids))
	ix.ids[string(ix.key)] = id
	return id, true, ix.hold(int64(len(ix.key)) + indexEntry)
}

// row builds the key of a row from some columns.
func (ix *index) row(columns []*eval.Vector, row int32) {
	ix.key = ix.key[:0]
	for _, c := range columns {
		ix.key = appendKey(ix.key, c, row)
	}
}
