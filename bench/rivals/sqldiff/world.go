package sqldiff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// World holds tables and their rows.
type World struct {
	Tables []plan.Table
	Source *operators.Tables
	Files  fstest.MapFS // the same rows as CSV
}

// kinds are the types of columns. The name of a column begins with the letter of its kind.
var kinds = []struct {
	letter string
	typ    types.Type
}{
	{"i", types.Of(types.BigInt)}, {"x", types.Of(types.Double)}, {"c", types.Of(types.Text)}, {"q", types.Of(types.Bool)},
	{"d", types.Of(types.Date)}, {"s", types.Of(types.Timestamp)}, {"p", types.DecimalOf(18, 2)},
}

// NewWorld makes three tables: every kind has a column in each, and some have two.
func NewWorld(r *rand.Rand) *World {
	w := &World{Source: &operators.Tables{Rows: map[string]*operators.Batch{}, Batch: 1 + r.IntN(70)}, Files: fstest.MapFS{}}
	for _, name := range []string{"t", "u", "v"} {
		t := plan.Table{Name: name}
		for _, k := range kinds {
			for n := range 1 + r.IntN(2) {
				t.Fields = append(t.Fields, plan.Field{Name: fmt.Sprintf("%s%s%d", name, k.letter, n), Type: k.typ})
			}
		}
		rows := &operators.Batch{N: []int{0, 1, 2, 5, 13, 40, 100}[r.IntN(7)]}
		nulls := []float64{0, 0.1, 0.5}[r.IntN(3)]
		for _, f := range t.Fields {
			rows.Columns = append(rows.Columns, column(r, f.Type, rows.N, nulls))
		}
		file, line := eval.NewVector(types.Text, rows.N), eval.NewVector(types.BigInt, rows.N)
		rows.Columns = append(rows.Columns, file, line)
		w.Files[name+".csv"] = &fstest.MapFile{Data: write(t.Fields, rows)}
		for i := range rows.N {
			file.Texts[i] = name + ".csv"
		}
		w.Tables, w.Source.Rows[name] = append(w.Tables, t), rows
	}
	return w
}

var texts = []string{"", "a", "b", "ab", "A", "é", "e\u0301", "aa", "%", "_", "a_b", "0", "12", "-7", "1.5", " a", "a ", "NULL", "\n",
	"日本", "zz", "2024-01-01", "'"}

func column(r *rand.Rand, t types.Type, n int, nulls float64) *eval.Vector {
	v := eval.NewVector(t.Kind, n)
	few := r.IntN(2) == 0 // few distinct values, so many duplicates
	extreme := r.IntN(6) == 0
	for i := range n {
		if r.Float64() < nulls {
			v.Nulls[i/64] |= 1 << (i % 64)
			v.Any = true
			continue
		}
		span := int64(1000)
		if few {
			span = 5
		}
		switch t.Kind {
		case types.Double:
			v.Floats[i] = float64(r.Int64N(span)-span/2) / 4
			if extreme && r.IntN(5) == 0 {
				v.Floats[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0x1p70}[r.IntN(5)]
			}
		case types.Text:
			v.Texts[i] = texts[r.IntN(len(texts))]
			if few {
				v.Texts[i] = texts[r.IntN(4)]
			}
		case types.Bool:
			v.Bools[i] = r.IntN(2) == 0
		case types.Date:
			v.Ints[i] = 19723 + r.Int64N(span) - span/2
		case types.Timestamp:
			v.Ints[i] = (19723*86400 + r.Int64N(span*7919) - span) * 1e6
		case types.Decimal:
			v.Ints[i] = r.Int64N(span*100) - span*50
		default:
			v.Ints[i] = r.Int64N(span) - span/2
			if extreme && r.IntN(5) == 0 {
				v.Ints[i] = []int64{math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, 1 << 40}[r.IntN(4)]
			}
		}
	}
	return v
}

// write writes rows as CSV, and puts the line where each row begins into the last column. NULL is empty, and texts are in
// quotes.
func write(fields []plan.Field, rows *operators.Batch) []byte {
	var b []byte
	for c, f := range fields {
		b = append(append(b, ",\n"[:min(c, 1)]...), f.Name...)
	}
	b = append(b, '\n')
	line := int64(2)
	for i := range int32(rows.N) {
		rows.Columns[len(fields)+1].Ints[i] = line
		for c, f := range fields {
			if c > 0 {
				b = append(b, ',')
			}
			v := rows.Columns[c]
			switch {
			case v.IsNull(i):
			case f.Type.Kind == types.Text:
				b = append(append(append(b, '"'), strings.ReplaceAll(v.Texts[i], `"`, `""`)...), '"')
				line += int64(strings.Count(v.Texts[i], "\n"))
			case f.Type.Kind == types.Double:
				b = strconv.AppendFloat(b, v.Floats[i], 'g', -1, 64)
			default:
				b = eval.AppendText(b, v, i, f.Type)
			}
		}
		b = append(b, '\n')
		line++
	}
	return b
}
