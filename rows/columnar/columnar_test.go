package columnar

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"posta.dev/posta/rows/csv"
)

const names = "a,b,c,d"

func mappingOf(t testing.TB, wanted ...string) csv.Mapping {
	t.Helper()
	h, err := csv.ParseHeader(csv.MarkedColumnar([]byte(names), ',', 18), ',')
	if err != nil {
		t.Fatal(err)
	}
	var columns []csv.Column
	for _, n := range wanted {
		columns = append(columns, csv.Column{Name: n, Optional: true})
	}
	m, err := h.Find(columns)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// modes are the kinds of values that random draws.
const modes = 9

// random appends a value, and returns its text, nil for NULL.
func random(r *rand.Rand, mode int, c *Column, words [][]byte) []byte {
	if r.IntN(6) == 0 {
		c.AppendNull()
		return nil
	}
	if r.IntN(200) == 0 {
		mode = r.IntN(modes) // a value of another kind among the others
	}
	ints := []int64{0, -1, 1, 255, 256, 65535, 65536, math.MaxUint32, math.MaxInt64, math.MinInt64, r.Int64(), int64(r.IntN(100))}
	v := ints[r.IntN(len(ints))]
	switch mode {
	case 0:
		v >>= r.IntN(60)
		c.AppendInt(Int, v)
		return appendValue([]byte{}, Int, v)
	case 1:
		f := []float64{0, math.Copysign(0, -1), 1.5, -1e300, math.NaN(), math.Inf(1), 1 << 60, 0.1, float64(r.IntN(1000)) / 8}[r.IntN(9)]
		c.AppendFloat(f)
		return AppendFloat([]byte{}, f, 64)
	case 2:
		if r.IntN(50) > 0 {
			v %= lastDay * microsPerDay
		}
		if r.IntN(2) == 0 {
			v -= v % 1e6
		}
		c.AppendInt(Micros, v)
		return AppendTime([]byte{}, v, 2)
	case 3:
		if r.IntN(50) > 0 {
			v %= lastDay
		}
		c.AppendInt(Days, v)
		return AppendDay([]byte{}, v)
	case 4:
		i := r.IntN(len(words))
		c.AppendWord(uint32(i), words[i])
		return words[i]
	case 5:
		c.AppendInt(Nanos, v)
		return AppendTime([]byte{}, v, 3)
	case 6:
		if r.IntN(50) > 0 {
			v &= 1
		}
		c.AppendInt(Bool, v)
		return appendValue([]byte{}, Bool, v)
	case 7:
		v >>= r.IntN(60)
		scale := 1 + len(words[5])%MaxScale
		c.AppendInt(Decimal(scale), v)
		return AppendDecimal([]byte{}, v, scale)
	}
	p := []byte(strings.Repeat("ü\n,\"", r.IntN(5)))
	if r.IntN(40) == 0 {
		p = bytes.Repeat([]byte("x"), r.IntN(70000))
	}
	c.AppendText(p)
	return append([]byte{}, p...)
}

func parseInt(p []byte) (c Cell, ok bool)  { c.Int, ok = csv.ParseInt(p); return c, ok }
func parseTime(p []byte) (c Cell, ok bool) { c.Int, ok = csv.ParseDateTime(p); return c, ok }
func parseDay(p []byte) (c Cell, ok bool)  { c.Int, ok = csv.ParseDate(p); return c, ok }
func parseFloat(p []byte) (c Cell, ok bool) {
	c.Float, ok = csv.ParseFloat(p)
	return c, ok
}

func parseBool(p []byte) (c Cell, ok bool) {
	if string(p) == "true" {
		c.Int = 1
	}
	return c, c.Int == 1 || string(p) == "false"
}

// parseMicros reads a time, and cuts its fraction to six digits.
func parseMicros(p []byte) (c Cell, ok bool) {
	whole, fraction, _ := bytes.Cut(p, []byte("."))
	c.Int, ok = csv.ParseDateTime(whole)
	micros, _ := strconv.ParseInt((string(fraction) + "000000")[:6], 10, 64)
	c.Int = c.Int*1e6 + micros
	return c, ok
}

// mostDecimal is the largest number that parseDecimal takes: a DECIMAL(15, 4).
const mostDecimal = 1e15 - 1

func parseDecimal(p []byte) (c Cell, ok bool) {
	d, ok := csv.ParseDecimal(p)
	n := big.NewInt(d.Value)
	for ; d.Scale < 4; d.Scale++ {
		n.Mul(n, big.NewInt(10))
	}
	for ; d.Scale > 4; d.Scale-- {
		n.Quo(n, big.NewInt(10))
	}
	c.Int = n.Int64()
	return c, ok && n.CmpAbs(big.NewInt(mostDecimal)) <= 0
}

// asks has everything that a parser may ask for.
var asks = []Ask{{}, {Kind: Int, Parse: parseInt}, {Kind: Float, Parse: parseFloat}, {Kind: Seconds, Parse: parseTime},
	{Kind: Days, Parse: parseDay}, {Parse: parseInt}, {Kind: Micros, Parse: parseMicros}, {Kind: Bool, Parse: parseBool},
	{Kind: Decimal(4), Most: mostDecimal, Parse: parseDecimal}}

// TestValuesAreTheirTexts: for any mixture of kinds, fields are the texts of the values, and cells are the results of parsing these texts.
func TestValuesAreTheirTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	w, side := NewWriter(4), NewWriter(4)
	wanted := []string{"c", "a", "none", "d", "b"}
	mapping := mappingOf(t, wanted...)
	sources := mapping.Sources()
	for round := range 300 {
		words := [][]byte{{}, []byte("one"), []byte("7"), []byte("2016-05-05"), []byte("2016-05-05 08:30:00"),
			bytes.Repeat([]byte("w"), r.IntN(300))}
		var of [4]int
		for i := range of {
			of[i] = r.IntN(modes)
			w.Column(i).Dictionary(len(words))
		}
		var rows [][4][]byte
		for range 1 + r.IntN(300) {
			var row [4][]byte
			for i := range row {
				row[i] = random(r, of[i], w.Column(i), words)
			}
			rows = append(rows, row)
			if r.IntN(100) == 0 && len(rows) > 1 { // move the last row aside, and back again
				w.MoveLast(side)
				before := w.Size()
				for i := range of {
					if got := side.Column(i).rows; got != 1 || w.Column(i).rows != len(rows)-1 {
						t.Fatalf("%d rows are aside", got)
					}
				}
				side.MoveLast(w)
				side.Reset()
				if w.Rows() != len(rows) || w.Size() < before {
					t.Fatalf("%d rows of %d", w.Rows(), len(rows))
				}
			}
		}
		chunk := w.Append([]byte("before"))[len("before"):]
		if len(chunk) > w.Size() {
			t.Fatalf("a chunk has %d bytes, and at most %d were said", len(chunk), w.Size())
		}
		s := NewScanner(mapping)
		cells := make([]*Cell, len(wanted))
		asked := make([]Ask, len(wanted))
		for i := range wanted {
			asked[i] = asks[r.IntN(len(asks))]
			cells[i] = s.Cells().Column(i, asked[i])
		}
		for range 2 { // the scanner is reused
			if err := s.Reset(chunk, 10); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			for n, row := range rows {
				if !s.Next() || s.Line() != uint64(10+n) {
					t.Fatalf("round %d: %d rows of %d", round, n, len(rows))
				}
				for i, source := range sources {
					var want []byte
					if source >= 0 {
						want = row[source]
					}
					if cells[i].OK {
						v, ok := asked[i].Parse(want)
						if v.OK = true; !ok || v.Int != cells[i].Int || math.Float64bits(v.Float) != math.Float64bits(cells[i].Float) {
							t.Fatalf("round %d, row %d: %q is %+v", round, n, want, cells[i])
						}
						continue
					}
					got := s.Fields()[i]
					if source < 0 && got != nil || !bytes.Equal(got, want) || s.Quoted().Has(i) != (want != nil && len(want) == 0) {
						t.Fatalf("round %d, row %d, field %d: %q and not %q", round, n, i, got, want)
					}
				}
				if want := csv.AppendRecord(nil, row[:], ','); !bytes.Equal(s.Row(), want) {
					t.Fatalf("round %d, row %d: %q and not %q", round, n, s.Row(), want)
				}
			}
			if s.Next() {
				t.Fatal("there are more rows")
			}
		}
		w.Reset()
	}
}

// damages are chunks that no writer makes, with the expected errors.
func damages(sound []byte) map[string][]byte {
	one := func(kind Kind, body ...byte) []byte { // of one row
		p := append([]byte{version, 1, 4, byte(kind)}, binary.AppendUvarint(nil, uint64(len(body)))...)
		return append(append(p, body...), 0, 0, 0, 0, 0, 0)
	}
	return map[string][]byte{
		"of version 1":              append([]byte{1}, sound[1:]...),
		"cut short":                 {version},
		"0 rows":                    {version, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0},
		"65537 rows":                {version, 0x81, 0x80, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0},
		"has 3 columns":             {version, 1, 3, 0, 0, 0, 0, 0, 0},
		"a kind that is not known":  one(99),
		"bytes are left behind its": one(null, 1),
		"whether there are NULLs":   one(text, 7, 1, 0),
		"lengths have 3 bytes":      one(text, 0, 3, 0),
		"numbers have 5 bytes":      one(Int, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0),
		"refers to entry 9 of 1":    one(dict, 1, 1, 0, 1, 9),
		"2 entries for 1 rows":      one(dict, 2, 1, 0, 0, 1, 1),
		"4 bytes are left behind":   append(bytes.Clone(sound), 1, 2, 3, 4),
		"column 1: ":                one(Float, 0, 1, 2, 3),
	}
}

func soundChunk() []byte {
	w := NewWriter(4)
	w.Column(1).Dictionary(2)
	for i := range 20 {
		w.Column(0).AppendInt(Int, int64(i*1000))
		w.Column(1).AppendWord(uint32(i%2), []byte{'a' + byte(i%2)})
		w.Column(2).AppendText([]byte(fmt.Sprint(i)))
		if i%3 == 0 {
			w.Column(3).AppendNull()
		} else {
			w.Column(3).AppendFloat(float64(i) / 3)
		}
	}
	return w.Append(nil)
}

func TestR16_DamagedChunksAreErrorsInWords(t *testing.T) {
	sound := soundChunk()
	s := NewScanner(mappingOf(t, "a", "b", "c", "d"))
	for want, chunk := range damages(sound) {
		err := s.Reset(chunk, 2)
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), want) || s.Next() {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	for n := range sound {
		if err := s.Reset(sound[:n], 2); !errors.Is(err, ErrMalformed) {
			t.Errorf("cut after %d of %d bytes: %v", n, len(sound), err)
		}
	}
	if err := s.Reset(sound, 2); err != nil {
		t.Error(err)
	}
}

// TestR16_ChunksTakeNoMemory: in a column of empty entries, each byte stands for one entry.
func TestR16_ChunksTakeNoMemory(t *testing.T) {
	const rows = MaxRows
	body := binary.AppendUvarint(nil, rows)
	body = append(body, 1)
	body = append(body, make([]byte, rows)...)
	body = append(body, 0)
	chunk := binary.AppendUvarint([]byte{version}, rows)
	chunk = append(chunk, 4)
	for range 4 {
		chunk = append(chunk, byte(dict))
		chunk = append(binary.AppendUvarint(chunk, uint64(len(body))), body...)
	}
	s := NewScanner(mappingOf(t, "a", "b", "c", "d"))
	for i := range 4 {
		s.Cells().Column(i, Ask{Kind: Int, Parse: parseInt})
	}
	if err := s.Reset(chunk, 2); err != nil {
		t.Fatal(err)
	}
	total, cells := 0, 0
	for i := range s.columns {
		total += 4 * cap(s.columns[i].ends)
		cells += len(s.columns[i].cells)
	}
	if total > 6*len(chunk) || cells > maxCells {
		t.Errorf("a chunk of %d bytes takes %d, and %d cells", len(chunk), total, cells)
	}
	for s.Next() {
	}
}

func FuzzScanner(f *testing.F) {
	f.Add(soundChunk())
	for _, chunk := range damages(soundChunk()) {
		f.Add(chunk)
	}
	f.Fuzz(func(t *testing.T, chunk []byte) {
		s := NewScanner(mappingOf(t, "d", "none", "a", "b", "c"))
		plain := NewScanner(mappingOf(t, "d", "none", "a", "b", "c"))
		var cells []*Cell
		for i := range 5 {
			cells = append(cells, s.Cells().Column(i, asks[1+(len(chunk)+i)%(len(asks)-1)]))
		}
		err := s.Reset(chunk, 2)
		if again := plain.Reset(chunk, 2); (err == nil) != (again == nil) || err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatal(err, again)
		}
		for n := 0; s.Next(); n++ {
			if !plain.Next() {
				t.Fatal("another number of rows")
			}
			for i, f := range plain.Fields() {
				if !cells[i].OK {
					if !bytes.Equal(f, s.Fields()[i]) {
						t.Fatalf("%q and %q", f, s.Fields()[i])
					}
				} else if v, ok := asks[1+(len(chunk)+i)%(len(asks)-1)].Parse(f); !ok || v.Int != cells[i].Int || v.Float != cells[i].Float {
					t.Fatalf("%q is %+v", f, cells[i])
				}
			}
			if n < 3 && !bytes.Equal(s.Row(), plain.Row()) {
				t.Fatalf("%q and %q", s.Row(), plain.Row())
			}
		}
	})
}
