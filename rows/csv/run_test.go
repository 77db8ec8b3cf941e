package csv

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// inRuns reads data by runs wherever that is possible. Of some runs it takes only the first rows. It returns how many rows it has read in
// runs.
func inRuns(rng *rand.Rand, data []byte, comma byte, m Mapping) (rows []row, many int) {
	var s Scanner
	s.Reset(data, comma, m, 2)
	for {
		for run := s.Run(1 + rng.IntN(2*MaxRun)); run != nil; run = s.Run(1 + rng.IntN(2*MaxRun)) {
			n := run.Rows()
			if rng.IntN(3) == 0 {
				n = rng.IntN(n + 1)
			}
			all := make([]row, n)
			for r := range all {
				line := s.line + linesIn(s.data[s.counted:s.index.base+int(run.start[r])])
				all[r] = row{line: line, fields: make([]string, len(m.sources))}
			}
			for i, source := range m.sources {
				for r := range all {
					from, to := run.Column(i, []int32{int32(r)})
					if len(from) == 0 { // Next has to read it
						n, all = r, all[:r]
						break
					}
					if all[r].fields[i] = string(run.Data()[from[0]:to[0]]); source < 0 {
						all[r].fields[i] += absent
					}
				}
			}
			var which []int32 // rows for which columns are asked, as if the others were skipped
			for r, every := 0, rng.IntN(2) == 0; r < n; r++ {
				if every || rng.IntN(3) > 0 {
					which = append(which, int32(r))
				}
			}
			for i := range m.sources {
				from, to := run.Leading(i, n)
				if len(from) < n {
					panic(fmt.Sprintf("column %d has %d of the first %d rows", i, len(from), n))
				}
				for k := range from {
					if text := string(run.Data()[from[k]:to[k]]); text != strings.TrimSuffix(all[k].fields[i], absent) {
						panic(fmt.Sprintf("column %d of row %d is %q among the first ones and %q alone", i, k, text, all[k].fields[i]))
					}
				}
				from, to = run.Column(i, which)
				if len(from) < len(which) {
					panic(fmt.Sprintf("column %d has %d of %d rows", i, len(from), len(which)))
				}
				for k, r := range which {
					if text := string(run.Data()[from[k]:to[k]]); text != strings.TrimSuffix(all[r].fields[i], absent) {
						panic(fmt.Sprintf("column %d of row %d is %q among others and %q alone", i, r, text, all[r].fields[i]))
					}
				}
			}
			rows, many = append(rows, all...), many+n
			s.Took(n)
			if n < run.Rows() {
				break
			}
		}
		if !s.Next() {
			return rows, many
		}
		r := row{line: s.Line()}
		if err := s.Err(); err != nil {
			r.err = err.Error()
		} else {
			r.fields = []string{}
			for _, f := range s.Fields() {
				if f == nil {
					r.fields = append(r.fields, absent)
				} else {
					r.fields = append(r.fields, string(f))
				}
			}
		}
		rows = append(rows, r)
	}
}

// TestRunsHaveTheRowsOfTheScanner: rows read in runs and rows read one by one, in turns, are the rows that the grammar has.
func TestRunsHaveTheRowsOfTheScanner(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	many, all := 0, 0
	for range 200 {
		columns := 1 + rng.IntN(5)
		data := ragged(rng)
		if rng.IntN(3) > 0 {
			data = nearlyPlain(rng, columns)
		}
		sources := make([]int, 1+rng.IntN(4))
		for i := range sources {
			sources[i] = rng.IntN(columns+1) - 1
		}
		m := MappingOf(columns, sources...)
		got, n := inRuns(rng, data, ',', m)
		sameRows(t, data, got, referenceRows(data, ',', m, 2))
		many, all = many+n, all+len(got)
	}
	if 2*many < all {
		t.Errorf("%d of %d rows were read in runs", many, all)
	}
}

// nearlyPlain returns rows of which nearly all are in the usual form.
func nearlyPlain(rng *rand.Rand, columns int) []byte {
	var data []byte
	end := []string{"\n", "\r\n"}[rng.IntN(2)]
	for range rng.IntN(4000) {
		for c := range columns + max(0, rng.IntN(400)-398) - max(0, rng.IntN(400)-398) {
			if c > 0 {
				data = append(data, ',')
			}
			data = append(data, strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(12))...)
		}
		if data = append(data, end...); rng.IntN(3000) == 0 {
			data = append(data, "\n\r\n\"a\",b\r,\"\",\n,\r\n"[rng.IntN(10):]...)
		}
		if rng.IntN(4000) == 0 {
			data = append(data, strings.Repeat("long", rng.IntN(window))...)
		}
	}
	return data[:len(data)-min(len(data), rng.IntN(4))]
}

// TestRunReadsNoUnusualRow: a row that Next would not read as it stands is in no run.
func TestRunReadsNoUnusualRow(t *testing.T) {
	for _, data := range []string{"", "\n", "a\n", "a,b,c\n", "a,b", "\r\n", "a\",b\n", "\"a\"b,c\n"} {
		var s Scanner
		s.Reset([]byte(data), ',', MappingOf(2, 0, 1), 2)
		if run := s.Run(MaxRun); run != nil {
			t.Errorf("%q: %d rows", data, run.Rows())
		}
	}
	for _, data := range []string{",\n", "a,b\n", "a,b\r\n", "a,b\n\n", "a,b\nc\n", "\"a\",b\n", "a,\"b\n\"\n"} {
		var s Scanner
		s.Reset([]byte(data), ',', MappingOf(2, 0, 1), 2)
		if run := s.Run(MaxRun); run == nil || run.Rows() != 1 {
			t.Errorf("%q: %v", data, run)
		}
	}
}

// column lays fields out as a run does, and returns them with a field in front that is behind the first eight bytes.
func column(fields []string) (data []byte, from, to []uint32) {
	data = []byte("12345678;")
	for _, f := range fields {
		from = append(from, uint32(len(data)))
		data = append(data, f...)
		to = append(to, uint32(len(data)))
		data = append(data, ";-.5\n"[len(f)%5])
	}
	return data, from, to
}

// TestNumbersOfColumns: what is read by columns is what is read field by field, to the bit.
func TestNumbersOfColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	fields := []string{"", "-", ".", "-.", "-0", "0", "-0.0", "+1", "1.", "-1.", ".5", "-.5", "1.5", "1..5", "1.-5", "--1", "12345678",
		"-12345678", "1234567.", "-.1234567",
		"123456789", "99999999", "0.000001", "1e5", "nan", "inf", "1 ", " 1", "1/2", "1:2", "12;4", "2024-02-29", "2023-02-29", "2024-2-2",
		"\x00", "\xff", "1\x801", "00000000", "-00000.0"}
	for range 20000 {
		b := make([]byte, 1+rng.IntN(10))
		for i := range b {
			b[i] = "0123456789.-"[rng.IntN(10+rng.IntN(3))]
		}
		fields = append(fields, string(b))
	}
	read, integers := map[string]int{}, 0
	for _, f := range fields {
		var x Numbers
		data, from, to := column([]string{"7", f, "7"})
		same := func(kind string, got []uint64, want uint64, ok bool) {
			t.Helper()
			switch {
			case len(got) == 1: // refused: the other function decides
			case len(got) != 3 || !ok || got[1] != want:
				t.Fatalf("%q as %s: %x; alone %x, %v", f, kind, got, want, ok)
			default:
				read[kind]++
			}
		}
		v, ok := ParseFloat([]byte(f))
		same("a float", floatBits(x.Floats(nil, data, from, to)), math.Float64bits(v), ok)
		i, ok := ParseInt([]byte(f))
		same("an integer", wordsOf(x.Ints(nil, data, from, to)), uint64(i), ok)
		if ok != (read["an integer"] > integers) {
			t.Fatalf("%q is left out, or no integer", f)
		}
		integers = read["an integer"]
		d, isDecimal := ParseDecimal([]byte(f))
		values, scales := x.Parts(nil, nil, data, from, to)
		if want := []int64{7, d.Value, 7}; isDecimal && (!slices.Equal(values, want) || !slices.Equal(scales, []int64{0, int64(d.Scale), 0})) ||
			!isDecimal && len(values) > 1 {
			t.Fatalf("%q is %v / 10^%v; alone %v, %v", f, values, scales, d, isDecimal)
		}
		i, ok = ParseDate([]byte(f))
		_, fromDates, toDates := column([]string{"2024-01-01", f, "2024-01-01"})
		dates, _, _ := column([]string{"2024-01-01", f, "2024-01-01"})
		same("a date", wordsOf(x.Dates(nil, dates, fromDates, toDates)), uint64(i), ok)
		for _, scale := range []int{0, 2, 9} {
			const limit = 10_000_000
			i, exact := d.Units(scale)
			same("a decimal", wordsOf(x.Decimals(nil, data, from, to, scale, 10*limit*limit)), uint64(i), isDecimal && exact)
			for _, v := range x.Decimals(nil, data, from[1:], to[1:], scale, limit) {
				if v >= limit || v <= -limit {
					t.Fatalf("%q is %d of 10^-%d, beyond the limit", f, v, scale)
				}
			}
		}
	}
	for kind, least := range map[string]int{"a float": 5000, "an integer": 1000, "a decimal": 3000, "a date": 1} {
		if read[kind] < least {
			t.Errorf("%s: %d were read the fast way", kind, read[kind])
		}
	}
}

// TestDatesOfColumns: dates and times of more months than a Numbers remembers are what they are alone; other texts are left out.
func TestDatesOfColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	var x Numbers
	seconds := func(dst []int64, data []byte, from, to []uint32) []int64 {
		dst = x.DateTimes(dst, data, from, to, 1_000_000)
		for k, v := range dst {
			dst[k] = v / 1_000_000
		}
		return dst
	}
	dates, refused := 0, 0
	for range 200_000 {
		year, month, day := 1995+rng.IntN(30), rng.IntN(14), rng.IntN(33)
		if rng.IntN(20) == 0 {
			year = rng.IntN(10_000)
		}
		text := fmt.Appendf(nil, "%04d-%02d-%02d %02d:%02d:%02d", year, month, day, rng.IntN(25), rng.IntN(61), rng.IntN(61))
		if rng.IntN(4) == 0 {
			text[rng.IntN(len(text))] = "0123456789-/: T\x00\xff"[rng.IntN(17)]
		}
		if rng.IntN(50) == 0 {
			text = text[:rng.IntN(len(text))]
		}
		for _, kind := range []struct {
			read  func(dst []int64, data []byte, from, to []uint32) []int64
			parse func(p []byte) (int64, bool)
			text  []byte
		}{{seconds, ParseDateTime, text}, {x.Dates, ParseDate, text[:min(10, len(text))]}} {
			got := kind.read(nil, kind.text, []uint32{0}, []uint32{uint32(len(kind.text))})
			want, ok := kind.parse(kind.text)
			if ok != (len(got) == 1) || ok && got[0] != want {
				t.Fatalf("%q is %v; alone %d, %v", kind.text, got, want, ok)
			}
			if dates++; !ok {
				dates, refused = dates-1, refused+1
			}
		}
	}
	if dates < 100_000 || refused < 50_000 {
		t.Errorf("%d dates, %d others", dates, refused)
	}
}

// TestNumbersStayInTheirData: fields at the beginning and the end of data are read or refused, whatever is around them.
func TestNumbersStayInTheirData(t *testing.T) {
	var x Numbers
	for size := range 20 {
		data := bytes.Repeat([]byte{'1'}, size)
		for from := range size + 1 {
			for to := from; to <= size; to++ {
				for _, v := range x.Ints(nil, data, []uint32{uint32(from)}, []uint32{uint32(to)}) {
					if want, ok := ParseInt(data[from:to]); !ok || want != v {
						t.Fatalf("%d of data[%d:%d]", v, from, to)
					}
				}
				for _, v := range x.Floats(nil, data, []uint32{uint32(from)}, []uint32{uint32(to)}) {
					if want, ok := ParseFloat(data[from:to]); !ok || want != v {
						t.Fatalf("%v of data[%d:%d]", v, from, to)
					}
				}
			}
		}
	}
}

func floatBits(values []float64) (words []uint64) {
	for _, v := range values {
		words = append(words, math.Float64bits(v))
	}
	return words
}

func wordsOf(values []int64) (words []uint64) {
	for _, v := range values {
		words = append(words, uint64(v))
	}
	return words
}
