package sqldiff

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// ours returns the rows of an answer as texts, with the same text for equal values.
func ours(rows *operators.Batch, fields []plan.Field) [][]string {
	out := make([][]string, rows.N)
	for i := range out {
		for k, f := range fields {
			out[i] = append(out[i], our(rows.Columns[k], int32(i), f.Type))
		}
	}
	return out
}

func our(v *eval.Vector, row int32, t types.Type) string {
	if v.IsNull(row) {
		return "NULL"
	}
	switch t.Kind {
	case types.Double:
		return float(v.Floats[row])
	case types.Bool:
		return fmt.Sprint(v.Bools[row])
	case types.Text:
		return fmt.Sprintf("%q", v.Texts[row])
	case types.Decimal:
		return decimal(big.NewInt(v.Ints[row]), int(t.Scale))
	case types.Interval:
		i := v.Intervals[row]
		return fmt.Sprintf("%d months %d days %d us", i.Months, i.Days, i.Micros)
	case types.TextList:
		l := v.Lists[row]
		items := make([]string, len(l.Items))
		for i, s := range l.Items {
			items[i] = fmt.Sprintf("%q", s)
			if l.Nulls != nil && l.Nulls[i] {
				items[i] = "NULL"
			}
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(v.Ints[row])
}

// float writes 0 and -0 as the same text.
func float(f float64) string {
	if f == 0 {
		f = 0
	}
	return fmt.Sprintf("%x", f)
}

func decimal(v *big.Int, scale int) string {
	r := new(big.Rat).SetFrac(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
	return r.RatString()
}

// theirs writes DuckDB's values as values of a type.
func theirs(rows [][]any, fields []plan.Field) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		for k, v := range row {
			out[i] = append(out[i], their(v, fields[k].Type))
		}
	}
	return out
}

func their(v any, t types.Type) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case float64:
		return float(v)
	case string:
		return fmt.Sprintf("%q", v)
	case *big.Int:
		if t.Kind == types.Double {
			f, _ := new(big.Float).SetInt(v).Float64()
			return float(f)
		}
		return v.String()
	case duckdb.Decimal:
		if t.Kind == types.Double {
			f, _ := new(big.Rat).SetFrac(v.Value, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Scale)), nil)).Float64()
			return float(f)
		}
		return decimal(v.Value, int(v.Scale))
	case duckdb.Interval:
		return fmt.Sprintf("%d months %d days %d us", v.Months, v.Days, v.Micros)
	case time.Time:
		if t.Kind == types.Date {
			return fmt.Sprint(v.Unix() / 86400)
		}
		return fmt.Sprint(v.UnixMicro())
	case []any:
		items := make([]string, len(v))
		for i, x := range v {
			items[i] = their(x, types.Of(types.Text))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// same compares two answers. If the statement does not determine the order of rows, rows may be in any order. Cells of columns in near may
// differ by a few units in the last place.
func same(got, want [][]string, ordered bool, near []bool) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d rows, want %d", len(got), len(want))
	}
	if !ordered {
		byText := func(a, b []string) int {
			for k := range a {
				if near[k] {
					continue
				}
				if c := cmp.Compare(a[k], b[k]); c != 0 {
					return c
				}
			}
			// rows that differ only here must have the same order in both answers: by number, because texts of close numbers differ at random
			for k := range a {
				if a[k] == b[k] {
					continue // NaN is not close to NaN
				}
				if a[k] == "NULL" || b[k] == "NULL" {
					return cmp.Compare(a[k], b[k])
				}
				x, err := strconv.ParseFloat(a[k], 64)
				y, again := strconv.ParseFloat(b[k], 64)
				if err == nil && again == nil && !close(a[k], b[k]) {
					return cmp.Compare(x, y)
				}
			}
			return cmp.Compare(strings.Join(a, "|"), strings.Join(b, "|"))
		}
		slices.SortFunc(got, byText)
		slices.SortFunc(want, byText)
	}
	for i := range got {
		for k := range got[i] {
			if got[i][k] != want[i][k] && !(near[k] && close(got[i][k], want[i][k])) {
				return fmt.Sprintf("row %d: %v, want %v", i, got[i], want[i])
			}
		}
	}
	return ""
}

// close reports whether two DOUBLEs are nearly equal.
func close(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, again := strconv.ParseFloat(b, 64)
	return err == nil && again == nil && (x == y || math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y)))
}
