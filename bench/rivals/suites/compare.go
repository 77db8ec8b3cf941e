package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// Only this order leaves no ties among rows that differ. Whether another one does is not seen from outside.
	total  = regexp.MustCompile(`(?is)\border\s+by\s+all\b[^()]*$`)
	number = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)
)

// compare says how two answers differ, "" if they do not.
func compare(query string, got, want [][]any) string {
	a, b := texts(got), texts(want)
	if len(a) != len(b) {
		return fmt.Sprintf("%d rows, DuckDB has %d: %.300q, DuckDB %.300q", len(a), len(b), a, b)
	}
	if same(a, b) {
		return ""
	}
	byText := func(x, y []string) int {
		return slices.CompareFunc(x, y, func(c, d string) int { return cmp.Compare(c, d) })
	}
	x, y := slices.Clone(a), slices.Clone(b)
	slices.SortFunc(x, byText)
	slices.SortFunc(y, byText)
	if same(x, y) {
		if !total.MatchString(query) {
			return ""
		}
		return fmt.Sprintf("another order: %.300q, DuckDB %.300q", a, b)
	}
	for i := range x {
		if !same(x[i:i+1], y[i:i+1]) {
			return fmt.Sprintf("row %d (sorted): %.300q, DuckDB %.300q", i+1, x[i], y[i])
		}
	}
	return "differs"
}

func same(a, b [][]string) bool {
	return slices.EqualFunc(a, b, func(x, y []string) bool { return slices.EqualFunc(x, y, cell) })
}

// cell compares two values as texts. Sums of DOUBLE are rounded once by posta and step by step by DuckDB, so numbers with an exponent or
// many digits may differ in the last places.
func cell(x, y string) bool {
	if x == y || x == "NULL" && (y == "inf" || y == "-inf" || y == "nan" || y == "-nan") { // JSON has no infinities: docs/data.md
		return true
	}
	if !number.MatchString(x) || !number.MatchString(y) {
		return false
	}
	f, _ := strconv.ParseFloat(x, 64)
	g, _ := strconv.ParseFloat(y, 64)
	if !strings.ContainsAny(x+y, ".eE") {
		return strings.TrimPrefix(x, "+") == strings.TrimPrefix(y, "+")
	}
	return f == g || max(len(x), len(y)) > 15 && math.Abs(f-g) <= 1e-12*max(math.Abs(f), math.Abs(g))
}

func texts(rows [][]any) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		for _, v := range row {
			out[i] = append(out[i], text(v))
		}
	}
	return out
}

func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	case string:
		return v
	case []any:
		items := make([]string, len(v))
		for i, x := range v {
			items[i] = text(x)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(v)
}
