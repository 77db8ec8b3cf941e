package columnar

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"posta.dev/posta/rows/csv"
)

// one is a field as [Scanner.Next] gives it.
type one struct {
	field []byte
	null  bool
	cell  Cell // OK is set if the value is known, or if the text parses
}

// oneByOne reads a chunk row by row.
func oneByOne(s *Scanner, asked []Ask, cells []*Cell) (rows [][]one) {
	for s.Next() {
		row := make([]one, len(asked))
		for i, p := range s.Fields() {
			x := &row[i]
			x.field, x.cell = bytes.Clone(p), *cells[i]
			if x.cell.OK {
				continue
			}
			x.cell = Cell{}
			if x.null = len(p) == 0 && !s.Quoted().Has(i); !x.null && asked[i].Parse != nil {
				x.cell, x.cell.OK = asked[i].Parse(p)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// checkRuns checks that runs of a chunk, with some of their rows read by Next, give what Next gives.
func checkRuns(t *testing.T, r *rand.Rand, s *Scanner, asked []Ask, want [][]one) {
	t.Helper()
	at := 0
	for run := s.Run(1 + r.IntN(2*MaxRun)); run != nil; run = s.Run(1 + r.IntN(400)) {
		if at+run.Rows() > len(want) || run.Line() != s.line+uint64(at) {
			t.Fatalf("row %d: %d rows of %d, line %d", at, run.Rows(), len(want), run.Line())
		}
		some := 1 + r.IntN(4)
		for i := range asked {
			var rows []int32
			for k := range run.Rows() {
				if some == 1 || r.IntN(some) == 0 {
					rows = append(rows, int32(k))
				}
			}
			of := make([]one, len(rows))
			for k, row := range rows {
				of[k] = want[at+int(row)][i]
			}
			checkColumn(t, run, i, asked[i], rows, of)
		}
		n := r.IntN(run.Rows() + 1)
		s.Took(n)
		if at += n; r.IntN(3) == 0 && s.Next() {
			for i, x := range want[at] {
				if asked[i].Parse == nil && !bytes.Equal(s.Fields()[i], x.field) {
					t.Fatalf("row %d: %q, and not %q", at, s.Fields()[i], x.field)
				}
			}
			at++
		}
	}
	if at != len(want) {
		t.Fatalf("%d rows of %d", at, len(want))
	}
}

func checkColumn(t *testing.T, run *Run, i int, asked Ask, rows []int32, want []one) {
	t.Helper()
	nulls := run.Nulls(i, rows)
	for k, x := range want {
		if x.null != (nulls != nil && nulls[k] == 1) {
			t.Fatalf("column %d, row %d: NULL is %v", i, rows[k], x.null)
		}
	}
	if asked.Parse == nil {
		checkTexts(t, run, i, rows, want)
		return
	}
	known := func(k, n int) bool {
		switch {
		case k < n && (want[k].null || want[k].cell.OK):
			return true
		case k > n || !want[k].null && !want[k].cell.OK || run.of(i).kind == dict && len(run.of(i).cells) == 0:
			return false
		case run.of(i).kind == text || run.of(i).kind == dict:
			t.Fatalf("column %d, row %d: %q is not read", i, rows[k], want[k].field)
		}
		return false // Next makes a text of the value, which parses; none of a run does
	}
	if asked.Kind == Float {
		values := run.Floats([]float64{7}, i, rows)[1:]
		for k := range want {
			if known(k, len(values)) && math.Float64bits(values[k]) != math.Float64bits(want[k].cell.Float) {
				t.Fatalf("column %d, row %d: %v, and not %v", i, rows[k], values[k], want[k].cell.Float)
			} else if k < len(values) && !want[k].null && !want[k].cell.OK {
				t.Fatalf("column %d, row %d: %v of %q", i, rows[k], values[k], want[k].field)
			}
		}
		return
	}
	values := run.Ints([]int64{7}, i, rows)[1:]
	for k := range want {
		if known(k, len(values)) && values[k] != want[k].cell.Int {
			t.Fatalf("column %d of kind %d, asked for %d, row %d: %v, and not %v", i, run.of(i).kind, asked.Kind, rows[k], values[k], want[k])
		} else if k < len(values) && !want[k].null && !want[k].cell.OK {
			t.Fatalf("column %d, row %d: %v of %q", i, rows[k], values[k], want[k].field)
		}
	}
}

func checkTexts(t *testing.T, run *Run, i int, rows []int32, want []one) {
	t.Helper()
	if _, ok := run.Dictionary(i); ok {
		for k, code := range run.Codes(i, rows) {
			var entry []byte
			if code > 0 {
				entry = run.Entry(i, code)
			}
			if want[k].null != (code == 0) || !bytes.Equal(entry, want[k].field) {
				t.Fatalf("column %d, row %d: %q, and not %q", i, rows[k], entry, want[k].field)
			}
		}
		return
	}
	data, from, to := run.Texts(i, rows)
	for k, x := range want {
		if p := data[from[k]:to[k]]; !bytes.Equal(p, x.field) {
			t.Fatalf("column %d, row %d: %q, and not %q", i, rows[k], p, x.field)
		}
	}
}

// TestRunsAreRows: whatever a chunk has, its runs have the values of its rows.
func TestRunsAreRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	mapping := mappingOf(t, "c", "a", "none", "d", "b")
	w := NewWriter(4)
	for range 80 {
		words := [][]byte{{}, []byte("one"), []byte("7"), []byte("2016-05-05"), []byte("2016-05-05 08:30:00"),
			bytes.Repeat([]byte("w"), r.IntN(300))}
		odd := r.IntN(2) == 0
		for i := range 4 {
			w.Column(i).Dictionary(len(words))
		}
		var modeOf [4]int
		for i := range modeOf {
			modeOf[i] = r.IntN(modes + 1)
		}
		for n := range 1 + r.IntN(3000) {
			for i, mode := range modeOf {
				switch c := w.Column(i); {
				case mode == modes:
					c.AppendNull()
				case odd && r.IntN(20) == 0:
					random(r, mode, c, words)
				case mode == 0:
					c.AppendInt(Int, int64(n)<<(8*i))
				case mode == 1:
					c.AppendFloat(float64(n) / 8)
				case mode == 2:
					c.AppendInt(Micros, int64(n)*1e6)
				case mode == 3:
					c.AppendInt(Days, int64(n))
				case mode == 5:
					c.AppendInt(Nanos, int64(n)*1e9)
				case mode == 6:
					c.AppendInt(Bool, int64(n%2))
				case mode == 7:
					c.AppendInt(Decimal(2+2*i), int64(n)*33)
				case mode == 4:
					c.AppendWord(uint32(n%len(words)), words[n%len(words)])
				default:
					c.AppendText(words[n%len(words)])
				}
			}
		}
		chunk := w.Append(nil)
		w.Reset()
		asked := make([]Ask, 5)
		var plain, runs = NewScanner(mapping), NewScanner(mapping)
		var cells []*Cell
		for i := range asked {
			asked[i] = asks[r.IntN(len(asks))]
			runs.Cells().Column(i, asked[i])
			cells = append(cells, plain.Cells().Column(i, asked[i]))
		}
		for range 2 {
			if err := plain.Reset(chunk, 10); err != nil {
				t.Fatal(err)
			}
			want := oneByOne(plain, asked, cells)
			before := runs.chunk
			if err := runs.Reset(chunk, 10); err != nil || runs.chunk == before {
				t.Fatal(err)
			}
			checkRuns(t, r, runs, asked, want)
		}
	}
}

// FuzzRuns: a chunk that is taken has runs that can be read, and they have the values of its rows.
func FuzzRuns(f *testing.F) {
	f.Add(soundChunk(), uint64(1))
	for _, chunk := range damages(soundChunk()) {
		f.Add(chunk, uint64(2))
	}
	h, err := csv.ParseHeader(csv.MarkedColumnar([]byte(names), ',', 18), ',')
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, chunk []byte, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		mapping, err := h.Find([]csv.Column{{Name: "d"}, {Name: "none", Optional: true}, {Name: "a"}, {Name: "b"}, {Name: "c"}})
		if err != nil {
			t.Fatal(err)
		}
		asked := make([]Ask, 5)
		plain, runs := NewScanner(mapping), NewScanner(mapping)
		var cells []*Cell
		for i := range asked {
			asked[i] = asks[r.IntN(len(asks))]
			runs.Cells().Column(i, asked[i])
			cells = append(cells, plain.Cells().Column(i, asked[i]))
		}
		if plain.Reset(chunk, 2) != nil || runs.Reset(chunk, 2) != nil {
			return
		}
		checkRuns(t, r, runs, asked, oneByOne(plain, asked, cells))
	})
}
