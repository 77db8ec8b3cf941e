package chart

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"posta.dev/posta/protocol"
)

func rowsOf(t *testing.T, rows ...[]any) (all [][]protocol.Value) {
	t.Helper()
	for _, row := range rows {
		var cells []protocol.Value
		for _, v := range row {
			if i, ok := v.(int); ok {
				v = int64(i)
			}
			cell, err := protocol.ValueOf(v)
			if err != nil {
				t.Fatal(err)
			}
			cells = append(cells, cell)
		}
		all = append(all, cells)
	}
	return all
}

func TestChoice(t *testing.T) {
	for _, c := range []struct {
		name    string
		columns string
		rows    [][]any
		want    string
	}{
		{"a text and a number", "city trips", [][]any{{"Oslo", 2}, {"Rome", 3}}, "bars: trips by city, 2 rows"},
		{"a bool and two numbers", "rain n km", [][]any{{true, 2, 1.5}, {false, 3, nil}}, "bars: n, km by rain, 2 rows"},
		{"days", "day n", [][]any{{"2024-02-01", 2}, {"2024-01-31", 3}}, "lines: n by day, 2 rows"},
		{"times in series", "at city n", [][]any{{"2024-01-01 10:00:00", "a", 2}, {"2024-01-01 10:00:00", "b", 3},
			{"2024-01-01 11:00:00", "b", 3}}, "lines: n by at, 3 rows"},
		{"days that come twice", "day n", [][]any{{"2024-01-01", 2}, {"2024-01-01", 3}}, "bars: n by day, 2 rows"},
		{"numbers that grow", "hour n", [][]any{{1, 5}, {2, 3}, {4, 9}}, "lines: n by hour, 3 rows"},
		{"numbers that do not", "x y", [][]any{{1, 5}, {9, 3}, {4, 9}}, "points: y by x, 3 rows"},
		{"a text that is a number once", "x y", [][]any{{"1", 5}, {9, 3}}, "bars: y by x, 2 rows"},
		{"one number", "n", [][]any{{1}, {2}}, ""},
		{"no number", "a b", [][]any{{"x", "y"}, {"z", nil}}, ""},
		{"one row", "a n", [][]any{{"x", 1}}, ""},
		{"nothing but NULL", "a n", [][]any{{nil, nil}, {nil, nil}}, ""},
		{"no row", "a n", nil, ""},
	} {
		got := ""
		if chart, ok := Of(strings.Fields(c.columns), rowsOf(t, c.rows...), 0); ok {
			got = chart.words()
			wellFormed(t, string(chart.SVG()))
		}
		if got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}

// wellFormed fails the test for SVG that is not XML, or has a number that no browser draws.
func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v: %s", err, svg)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if strings.Contains("script style image use a foreignObject", e.Name.Local) {
			t.Errorf("the chart has an element %s", e.Name.Local)
		}
		for _, a := range e.Attr {
			if a.Name.Local != "aria-label" && (strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf")) {
				t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
}

func TestOddNumbers(t *testing.T) {
	odd := []any{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324, 1e299, -1e299, 0.0, nil, math.MaxInt64,
		math.MinInt64, 1e-300, 7}
	for i, a := range odd {
		for j, b := range odd {
			for _, rows := range [][][]any{{{"x", a}, {"y", b}}, {{1, a}, {2, b}}, {{a, b}, {b, a}, {1, 1}},
				{{"2024-01-01", a}, {"2024-01-02", b}}} {
				if c, ok := Of([]string{"k", "v"}, rowsOf(t, rows...), 0); ok {
					wellFormed(t, string(c.SVG()))
				} else if i != j && a != nil && b != nil && rows[0][0] == "x" {
					t.Errorf("no chart for %v and %v", a, b)
				}
			}
		}
	}
}

func TestTextsAreEscapedAndCut(t *testing.T) {
	bad := "<script>alert(1)</script>\"'&\x1b[2J\u202e" + strings.Repeat("x", 1<<20) + "\xff"
	for _, rows := range [][][]any{{{bad, 1}, {"y", 2}}, {{"2024-01-01", 1}, {"2024-01-02", 2}}} {
		c, ok := Of([]string{bad, bad}, rowsOf(t, rows...), 0)
		if !ok {
			t.Fatal("no chart")
		}
		svg := string(c.SVG())
		wellFormed(t, svg)
		if len(svg) > 20_000 || strings.Contains(svg, "<script") || strings.Contains(svg, "\x1b") {
			t.Errorf("%d bytes: %.300s", len(svg), svg)
		}
	}
}

func TestALongAnswerIsBounded(t *testing.T) {
	var bars, lines [][]any
	columns := []string{"k"}
	for i := range MostRows + 500 {
		bar, line := []any{fmt.Sprint("name ", i)}, []any{i}
		for n := range 8 {
			bar, line = append(bar, n), append(line, (i*n)%97)
		}
		bars, lines = append(bars, bar), append(lines, line)
	}
	for n := range 8 {
		columns = append(columns, fmt.Sprint("n", n))
	}
	for _, c := range []struct {
		rows [][]any
		note string
	}{{bars, "the first 30 of 10,000,000 rows; 4 more columns of numbers not drawn"},
		{lines, "the first 2,000 of 10,000,000 rows; 4 more columns of numbers not drawn"}} {
		chart, _ := Of(columns, rowsOf(t, c.rows...), 10_000_000)
		if svg := string(chart.SVG()); len(svg) > 150_000 || !strings.Contains(svg, c.note) {
			t.Errorf("%d bytes, and the note is %q", len(svg), chart.Note())
		}
	}
}

func TestScales(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 10, "[0 5 10]"}, {0, 97, "[0 50 100]"}, {-3, 4, "[-4 -2 0 2 4]"}, {5, 5, "[4.4 4.6 4.8 5 5.2 5.4 5.6]"}, {1, 0, "[0 0.5 1]"},
		{12_000, 58_000, "[0 20000 40000 60000]"},
	} {
		s := newScale(c.low, c.high, 4)
		var got []string
		for _, v := range s.ticks() {
			got = append(got, fmt.Sprintf("%.4g", v))
		}
		if text := fmt.Sprint(got); len(got) < 3 || len(got) > 8 {
			t.Errorf("%v to %v: %s", c.low, c.high, text)
		}
		if s.low > min(c.low, c.high) && c.low <= c.high || s.high < c.high {
			t.Errorf("%v to %v do not fit into %+v", c.low, c.high, s)
		}
	}
	for v, want := range map[float64]string{0: "0", 1234567: "1,234,567", -1234.5: "-1,234.5", 0.00001: "1e-05", 12.3456789: "12.346",
		1e16: "1e+16", -0.25: "-0.25", 99999.5: "99,999.5"} {
		if got := numberText(v); got != want {
			t.Errorf("%v is %q, not %q", v, got, want)
		}
	}
}

// TestPictures compares whole pictures with files: a change of the layout is seen as a diff. -update writes them.
func TestPictures(t *testing.T) {
	var days [][]any
	for i := range 40 {
		day := fmt.Sprintf("2024-%02d-%02d", 1+i/28, 1+i%28)
		days = append(days, []any{day, "Oslo", 10 + (i*7)%13}, []any{day, "Rome & Co", 30 - (i*5)%11})
	}
	days[11][2] = nil
	var points [][]any
	for i := range 50 {
		points = append(points, []any{float64((i*37)%50) / 7, float64((i*i)%61) - 20})
	}
	for _, c := range []struct {
		name    string
		columns []string
		rows    [][]any
	}{
		{"bars", []string{"city", "trips", "km"}, [][]any{{"Oslo", 12345, 3.65}, {"Rome", 6000, -1.43}, {"Lima", 1, nil},
			{"A name that is longer than its place", 9000, 0.5}}},
		{"lines", []string{"day", "city", "trips"}, days},
		{"points", []string{"km", "degrees"}, points},
	} {
		chart, ok := Of(c.columns, rowsOf(t, c.rows...), 0)
		if !ok {
			t.Fatalf("%s: no chart", c.name)
		}
		got := strings.ReplaceAll(string(chart.SVG()), "><", ">\n<") + "\n"
		file := "testdata/" + c.name + ".svg"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; go test ./cmd/internal/chart -update writes it, git diff shows what changes", file)
		}
	}
}

var update = flag.Bool("update", false, "write the pictures of testdata")
