package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"posta.dev/posta/analyses/sql/syntax"
)

// ordering says what a statement says of the order of its rows.
type ordering struct {
	keys   []int // the columns of ORDER BY
	hidden bool  // other columns of ORDER BY are not in the answer
	limit  int   // -1: none
	offset bool
}

// orderOf finds the order in a statement. columns are those for which a * stands. shown is the statement with hidden keys as
// further columns.
func orderOf(text string, columns map[string][]string) (o ordering, shown string, err error) {
	script, err := syntax.Parse(text)
	if err != nil {
		return o, "", err
	}
	q, ok := script.Statements[0].Node.(*syntax.Query)
	if !ok {
		return o, "", fmt.Errorf("not a query: %s", text)
	}
	o.limit, o.offset = -1, q.Offset != nil
	if n, ok := q.Limit.(*syntax.Number); ok {
		if o.limit, err = strconv.Atoi(n.Text); err != nil {
			return o, "", err
		}
	}
	s, ok := q.Body.(*syntax.Select)
	if !ok {
		return o, "", fmt.Errorf("not a SELECT: %s", text)
	}
	names := outputs(s, columns)
	for _, by := range q.OrderBy {
		name := syntax.PrintExpr(by.X)
		at := slices.IndexFunc(names, func(of []string) bool { return slices.Contains(of, strings.ToLower(name)) })
		if n, err := strconv.Atoi(name); err == nil {
			at = n - 1
		}
		if at < 0 {
			o.hidden = true
			s.Items = append(s.Items, syntax.Item{X: by.X})
			continue
		}
		o.keys = append(o.keys, at)
	}
	if o.hidden {
		shown = syntax.Print(&syntax.Script{Statements: []syntax.Statement{{Node: q}}})
	}
	return o, shown, nil
}

// outputs returns the names that ORDER BY may use for each column: its expression and its alias.
func outputs(s *syntax.Select, columns map[string][]string) (all [][]string) {
	for _, item := range s.Items {
		if _, star := item.X.(*syntax.Star); star {
			if t, ok := s.From.(*syntax.Table); ok {
				for _, name := range columns[t.Name.Name] {
					all = append(all, []string{strings.ToLower(name)})
				}
			}
			continue
		}
		all = append(all, []string{strings.ToLower(syntax.PrintExpr(item.X)), strings.ToLower(item.Alias.Name)})
	}
	return all
}

// errRows reports rows that differ from DuckDB's.
var errRows = errors.New("the rows are not those of DuckDB")

// same compares two answers. The keys of all rows must be the same, in their order. Rows with the same keys may be in any order: as many
// rows of the one answer as of the other must be the same. But LIMIT and OFFSET may cut through rows with the same keys, at the end and
// at the beginning of an answer, and which of them remain is open. So of those only the keys are compared, and without ORDER BY only how
// many rows there are.
func (o *ordering) same(ours, theirs json.RawMessage) error {
	a, err := decodeRows(ours)
	if err != nil {
		return err
	}
	b, err := decodeRows(theirs)
	if err != nil {
		return err
	}
	if len(a) != len(b) {
		return fmt.Errorf("%w: %d in place of %d", errRows, len(a), len(b))
	}
	equalKeys := func(x, y []any) bool {
		return !slices.ContainsFunc(o.keys, func(k int) bool { return k >= len(x) || k >= len(y) || !sameValue(x[k], y[k]) })
	}
	for begin := 0; begin < len(b); {
		end := begin + 1
		for end < len(b) && equalKeys(b[begin], b[end]) {
			end++
		}
		cut := o.hidden || o.limit >= 0 && end == len(b) && len(b) == o.limit || o.offset && begin == 0
		for i := begin; i < end; i++ {
			if !equalKeys(a[i], b[i]) || len(a[i]) != len(b[i]) || !cut && !takeRow(a[begin:end], b[i], i-begin) {
				return fmt.Errorf("%w: row %d is %v in place of %v", errRows, i+1, a[i], b[i])
			}
		}
		begin = end
	}
	return nil
}

// takeRow finds a row that is the same as want from place i on, and moves it there.
func takeRow(rows [][]any, want []any, i int) bool {
	at := slices.IndexFunc(rows[i:], func(row []any) bool { return slices.EqualFunc(row, want, sameValue) })
	if at < 0 {
		return false
	}
	rows[i], rows[i+at] = rows[i+at], rows[i]
	return true
}

// decodeRows keeps all digits of numbers.
func decodeRows(text json.RawMessage) (rows [][]any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&rows)
	return rows, err
}

// sameValue compares a value of ours with one of theirs. Sums of DOUBLEs are exact in Posta and not in DuckDB, so numbers that are not
// integers may differ by a relative 1e-9.
func sameValue(x, y any) bool {
	x, y = plainValue(x), plainValue(y)
	if x == y {
		return true
	}
	f, ok := asNumber(x)
	g, also := asNumber(y)
	if ok && also {
		return !(isInteger(x) && isInteger(y)) && math.Abs(f-g) <= 1e-9*math.Max(math.Abs(f), 1)
	}
	s, ok := x.(string)
	t, also := y.(string)
	return ok && also && (s == t+" 00:00:00" || t == s+" 00:00:00")
}

// asNumber reads a number, including a DECIMAL, which Posta writes as text.
func asNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case string:
		f, err := strconv.ParseFloat(v, 64)
		return f, err == nil
	}
	f, ok := v.(float64)
	return f, ok
}

func isInteger(v any) bool {
	n, ok := v.(json.Number)
	return ok && !strings.ContainsAny(n.String(), ".eE")
}

// plainValue converts a value of DuckDB's driver to what Posta writes: a DECIMAL, which has digits and scale, to a number, and a day or a
// time to its text.
func plainValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		d, isNumber := asNumber(v["Value"])
		s, scaled := asNumber(v["Scale"])
		if isNumber && scaled {
			return d / math.Pow(10, s)
		}
	case string:
		if t, ok := strings.CutSuffix(v, "Z"); ok && len(v) >= len("2013-07-01T00:00:00Z") && v[10] == 'T' {
			return strings.TrimSuffix(strings.Replace(t, "T", " ", 1), " 00:00:00")
		}
	}
	return v
}
