package csv

import (
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func sameRows(t *testing.T, data []byte, got, want []row) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i < len(got) && i < len(want) && got[i].String() == want[i].String() {
			continue
		}
		if len(data) > 400 {
			data = data[:400]
		}
		t.Fatalf("row %d of %d, %d wanted\n got %v\nwant %v\ndata %q", i, len(got), len(want), at(got, i), at(want, i), data)
	}
}

func at(rows []row, i int) any {
	if i < len(rows) {
		return rows[i]
	}
	return "nothing"
}

func TestScannerCases(t *testing.T) {
	ok := func(line uint64, fields ...string) row { return row{line: line, fields: fields} }
	bad := func(line uint64, err string) row { return row{line: line, err: err} }
	const after = "; write a quote inside a quoted field twice"
	const more = "; a field that holds the separator has to stand in quotes"
	for _, c := range []struct {
		name, data string
		want       []row
	}{
		{"nothing", "", nil},
		{"no line end", "a,b,c", []row{ok(2, "a", "c")}},
		{"LF and CRLF", "a,b,c\nd,e,f\r\n", []row{ok(2, "a", "c"), ok(3, "d", "f")}},
		{"CR at the end of the file", "a,b,c\r", []row{ok(2, "a", "c")}},
		{"CR elsewhere is text", "a\r,b,\rc\rd\n", []row{ok(2, "a\r", "\rc\rd")}},
		{"empty lines", "\n\r\na,b,c\n\n\nd,e,f\n\r", []row{ok(4, "a", "c"), ok(7, "d", "f")}},
		{"empty fields", ",,\n", []row{ok(2, "", "")}},
		{"more fields than the header", "a,b,c,d,e\na,\"b\n\",c,d\n", []row{
			bad(2, "row has 5 fields, and the header has 3"+more), bad(3, "row has 4 fields, and the header has 3"+more+" (the row has 2 lines)")}},
		{"too few fields", "a,b\na\n", []row{bad(2, "row has 2 fields, and the header has 3"), bad(3, "row has 1 field, and the header has 3")}},
		{"a separator behind the last field", "a,b,c,\na,b,c,\r\na,b,c,,\na,b,c,\"\"\n\"a\"\"\",b,c,", []row{ok(2, "a", "c"), ok(3, "a", "c"),
			bad(4, "row has 5 fields, and the header has 3"+more), bad(5, "row has 4 fields, and the header has 3"+more), ok(6, "a\"", "c")}},
		{"quoted", "\"a\",\"b\",\"c\"\r\n\"a\",b,\"\"\n", []row{ok(2, "a", "c"), ok(3, "a", "")}},
		{"quoted separators and lines", "\"a,\n\r\n\",b,c\nd,e,f\n", []row{ok(2, "a,\n\r\n", "c"), ok(5, "d", "f")}},
		{"doubled quotes", "\"\"\"\",b,\"c\"\"\"\"d\"\n", []row{ok(2, "\"", "c\"\"d")}},
		{"a line break in an unwanted field", "a,\"\n\n\",c\nd,e,f", []row{ok(2, "a", "c"), ok(5, "d", "f")}},
		{"quotes inside unquoted fields are text", "a\"b,\"\",c\"\n a\",b, \"c\"\n", []row{ok(2, "a\"b", "c\""), ok(3, " a\"", " \"c\"")}},
		{"text after a quote", "\"a\"x,\"\n\"b\",c,d\n", []row{
			bad(2, "there is text after the closing quote of field 1, which opens in line 2"+after), ok(3, "b", "d")}},
		{"text after a quote that opened earlier", "a,\"\n\n\",\"b\nc\"x\nd,e,f\n", []row{
			bad(2, "there is text after the closing quote of field 3, which opens in line 4"+after+" (the row has 4 lines)"), ok(6, "d", "f")}},
		{"CR after a quote", "\"a\"\r,b,c\nd,e,\"f\"\r", []row{
			bad(2, "there is text after the closing quote of field 1, which opens in line 2"+after), ok(3, "d", "f")}},
		{"never closed", "a,b,c\nd,\"e,f\ng,h,i\n", []row{ok(2, "a", "c"),
			bad(3, "the quote that opens field 2 in line 3 is never closed (the row has 2 lines)")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Header{names: []string{"first", "second", "third"}}.Find([]Column{{Name: "first"}, {Name: "third"}})
			if err != nil {
				t.Fatal(err)
			}
			got := scanRows(&Scanner{}, []byte(c.data), ',', m, 2)
			sameRows(t, []byte(c.data), got, c.want)
			sameRows(t, []byte(c.data), referenceRows([]byte(c.data), ',', m, 2), c.want)
		})
	}
}

// A blank line of a file with one column is a row without a value, as in DuckDB.
func TestABlankLineOfOneColumnIsARow(t *testing.T) {
	for _, data := range []string{"\n1\n\r\n\"\"\n\n", "\n1\n\r\n\"\"\n\n\"x\"y\n", "\n1\n\r\n\"\"\n\n" + strings.Repeat("long", window)} {
		m := MappingOf(1, 0)
		got := scanRows(&Scanner{}, []byte(data), ',', m, 2)
		sameRows(t, []byte(data), got, referenceRows([]byte(data), ',', m, 2))
		if len(got) < 5 || got[0].fields[0] != "" || got[1].fields[0] != "1" || got[4].line != 6 {
			t.Errorf("%.40q: %.200q", data, got)
		}
	}
}

// A stray quote swallows rows: the same ones, in whatever chunks they come. Texts of many lines are no such rows.
func TestAStrayQuoteIsFoundWhateverTheChunks(t *testing.T) {
	lines := func(n int, format string) string { return strings.Repeat(format+"\n", n) }
	long := lines(window/4, "4,5,6")
	for _, c := range []struct {
		name, data string
		columns    int
		want       string // of the first error; "" if there is none
	}{
		{"never closed", "1,\"2,3\n" + lines(20, "4,5,6"), 3, "quote that opens field 2 is never closed, or"},
		{"never closed, and rows of other lengths", "1,2,\"3\n" + lines(20, "4,5,6\r") + lines(19, "7,8"), 3,
			"quote that opens field 3 is never closed, or"},
		{"never closed, and fewer rows than other lines", "1,2,\"3\n" + lines(20, "4,5,6") + lines(25, "7,8"), 3,
			"never closed (the row has 46 lines)"},
		{"never closed, and few rows", "1,2,\"3\n" + lines(15, "4,5,6"), 3, "never closed (the row has 16 lines)"},
		{"never closed, with blank lines", "1,2,\"3\n" + lines(20, "\n4,5,6"), 3, "quote that opens field 3 is never closed, or"},
		{"more than a window", "1,\"2,3\n" + long, 3, "quote that opens field 2 is never closed, or"},
		{"one column, never closed", "1\n\"2\n" + lines(20, "3"), 1, "quote that opens field 1 is never closed, or"},
		{"one column, closed", "1\n\"2\n" + lines(20, "3") + "4\"\n", 1, ""},
		{"closed by the next quoted field", "1,\"2,3\n" + lines(20, "4,5,6") + "7,\"8\",9\n", 3, "quote that opens field 2 is never closed, or"},
		{"closed by another stray quote", "1,\"2,3\n" + lines(20, "4,5,6") + "7,8\",9\n", 3, "quote that opens field 2 is closed much later"},
		{"closed, more than a window", "1,\"2,3\n" + long + "7,8\",9\n", 3, "quote that opens field 2 is closed much later"},
		{"closed, behind another text", "0,\"\n\",0\n1,\"\n\",\"2,3,4\n" + lines(20, "4,5,6") + "7,8,9\"\n", 3, ""},
		{"a text", "1,\"2\n" + lines(20, "a word, and another") + "end\",3\n", 3, ""},
		{"a text in which most lines look like rows", "1,\"2\n" + lines(20, "4,5,6") + "end,\",3\n", 3, ""},
		{"JSON", "1,\"{\n" + lines(30, `  ""key"": 1,`) + `  ""last"": 2` + "\n}\"\n", 2, ""},
	} {
		m := MappingOf(c.columns, 0)
		data := "header\n" + c.data
		first := func(rows []row) string {
			for _, r := range rows {
				if r.err != "" {
					return r.err
				}
			}
			return ""
		}
		whole := scanRows(&Scanner{}, []byte(c.data), ',', m, 2)
		if got := first(whole); !strings.Contains(got, c.want) || got != "" && c.want == "" {
			t.Errorf("%s: %s", c.name, got)
		}
		sameRows(t, []byte(c.data), whole, referenceRows([]byte(c.data), ',', m, 2))
		runs, _ := inRuns(rand.New(rand.NewPCG(1, 2)), []byte(c.data), ',', m)
		sameRows(t, []byte(c.data), runs, whole)
		for _, chunkBytes := range []int{1, 100, 5000} {
			sameRows(t, []byte(c.data), drain(t, NewCutter(strings.NewReader(data), ',', chunkBytes, 1<<20), []byte(c.data), ',', m, 0), whole)
		}
	}
}

func TestScannerAgreesWithEncodingCSVOnSoundFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var s Scanner
	for range 300 {
		columns := 1 + rng.IntN(30)
		data, want := tidy(rng, rng.IntN(60), columns)
		sources := rng.Perm(columns)[:rng.IntN(columns+1)]
		got := scanRows(&s, data, ',', MappingOf(columns, sources...), 1)
		if len(got) != len(want) {
			t.Fatalf("%d rows, want %d", len(got), len(want))
		}
		for i, r := range got {
			for k, source := range sources {
				if r.err != "" || r.fields[k] != want[i][source] {
					t.Fatalf("row %d, column %d: %v, want %q", i, source, r, want[i])
				}
			}
		}
		// The random data is CSV: the standard library reads the same, except for line ends in fields, which it rewrites.
		records, err := stdcsv.NewReader(bytes.NewReader(data)).ReadAll()
		if err != nil || len(records) != len(want) {
			t.Fatalf("encoding/csv: %d records, want %d; %v", len(records), len(want), err)
		}
		for i := range records {
			if wanted := strings.ReplaceAll(strings.Join(want[i], "|"), "\r\n", "\n"); strings.Join(records[i], "|") != wanted {
				t.Fatalf("encoding/csv: row %d is %q, want %q", i, records[i], want[i])
			}
		}
	}
}

func randomMapping(rng *rand.Rand) Mapping {
	sources := make([]int, rng.IntN(5))
	for i := range sources {
		sources[i] = rng.IntN(7) - 1
	}
	return MappingOf(rng.IntN(9), sources...)
}

func TestScannerAgreesWithTheGrammarOnRubbish(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	var s Scanner // one for all chunks: nothing of the last chunk may remain
	for range 1500 {
		data, m := rubbish(rng, rng.IntN(600)), randomMapping(rng)
		sameRows(t, data, scanRows(&s, data, ',', m, 1), referenceRows(data, ',', m, 1))
	}
	for range 8 {
		data, m := rubbish(rng, 5*window), randomMapping(rng)
		sameRows(t, data, scanRows(&s, data, ',', m, 1), referenceRows(data, ',', m, 1))
	}
}

func TestScannerOnEveryShortText(t *testing.T) {
	m := MappingOf(2, 1, 0)
	var s Scanner
	var walk func(data []byte)
	walk = func(data []byte) {
		sameRows(t, data, scanRows(&s, data, ',', m, 1), referenceRows(data, ',', m, 1))
		if len(data) == 6 {
			return
		}
		for _, c := range []byte("a,\"\r\n") {
			walk(append(data[:len(data):len(data)], c))
		}
	}
	walk(nil)
}

func TestRowsAroundAndBeyondTheWindow(t *testing.T) {
	var s Scanner
	for _, size := range []int{window - 1, window, window + 1, 1<<16 + 1} {
		for _, end := range []string{"\n", "\r\n", ""} {
			for _, text := range []string{"x", ",", "long field,"} {
				row := strings.Repeat(text, size/len(text)+1)[:size]
				data := []byte("1,2,3\n" + row + "\n4,5,6\r\n" + row + end)
				columns := strings.Count(row, ",") + 1
				for _, m := range []Mapping{MappingOf(columns, 0, columns-1, columns/2), MappingOf(3, 0), MappingOf(columns, columns)} {
					sameRows(t, data, scanRows(&s, data, ',', m, 1), referenceRows(data, ',', m, 1))
				}
			}
		}
	}
}

func TestFieldsOfARowStayRightWhenScratchMoves(t *testing.T) {
	big := strings.Repeat(`""`, 500)
	data := []byte(`"a""b","` + big + `","c""d"` + "\n")
	got := scanRows(&Scanner{}, data, ',', MappingOf(3, 0, 1, 2), 1)
	want := []row{{line: 1, fields: []string{`a"b`, strings.Repeat(`"`, 500), `c"d`}}}
	sameRows(t, data, got, want)
}

func TestAppendToAFieldLeavesItsNeighbourAlone(t *testing.T) {
	for _, data := range []string{"ab,cd\n", "\"ab\",cd\n", "\"a\"\"b\",\"c\"\"d\"\n"} {
		var s Scanner
		s.Reset([]byte(data), ',', MappingOf(2, 0, 1), 1)
		s.Next()
		second := string(s.Fields()[1])
		_ = append(s.Fields()[0], "XXXX"...)
		if string(s.Fields()[1]) != second {
			t.Errorf("%q: the second field became %q", data, s.Fields()[1])
		}
	}
}

func TestRowErrorsCanBeToldApart(t *testing.T) {
	var s Scanner
	s.Reset([]byte("a\n\"b\"c\n\"d"), ',', MappingOf(2, 1), 1)
	var faults []Fault
	for s.Next() {
		var e *RowError
		if !errors.As(s.Err(), &e) {
			t.Fatalf("%v is not a RowError", s.Err())
		}
		faults = append(faults, e.Fault)
	}
	if want := []Fault{OtherFields, TextAfterQuote, UnclosedQuote}; !slices.Equal(faults, want) {
		t.Errorf("faults %v, want %v", faults, want)
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte("a,\"b\"\"\n\",c\r\n\"x\"y\n"), byte(','), 2)
	f.Add([]byte("1e2e3\r4e5e6\n"), byte('e'), 7) // a separator of the test's own header, and mixed line ends
	f.Add([]byte("1,\"2,3\n"+strings.Repeat("4,5,6\n", 20)+"7,8\",9\n"), byte(','), 9)
	f.Fuzz(func(t *testing.T, data []byte, comma byte, limit int) {
		if _, err := separator(comma); err != nil || comma == 0 {
			return
		}
		m := MappingOf(3, 0, 2, -1, 1)
		whole := scanRows(&Scanner{}, data, comma, m, 1)
		sameRows(t, data, whole, referenceRows(data, comma, m, 1))
		sameRows(t, data, cutRows(t, data, comma, m, 1+limit&63), whole)
		sameEnd(t, data, len(data), comma)
		sameEnd(t, data, limit&1023, comma)
	})
}
