package batch

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// model holds rows as columns of plain Go values.
type model struct {
	spec    []FieldSpec
	columns []any // []int64, []float64 or [][]byte
	rows    int
}

func randomSpec(rng *rand.Rand) []FieldSpec {
	spec := make([]FieldSpec, 1+rng.IntN(6))
	for i := range spec {
		spec[i] = FieldSpec{Name: fmt.Sprintf("column %d", i), Kind: Kind(1 + rng.IntN(4))}
	}
	return spec
}

func randomModel(rng *rand.Rand, spec []FieldSpec, rows int) model {
	m := model{spec: spec, columns: make([]any, len(spec)), rows: rows}
	for i, f := range spec {
		switch f.Kind {
		case Int:
			m.columns[i] = randomInts(rng, rows)
		case Float:
			m.columns[i] = randomFloats(rng, rows)
		default:
			m.columns[i] = randomTexts(rng, rows)
		}
	}
	return m
}

func randomInts(rng *rand.Rand, rows int) []int64 {
	low, shift := int64(rng.Uint64()), rng.IntN(65)
	values := make([]int64, rows)
	for i := range values {
		values[i] = low + int64(rng.Uint64()>>shift) // wraps around, so both ends of the range occur
	}
	return values
}

func randomFloats(rng *rand.Rand, rows int) []float64 {
	values := make([]float64, rows)
	for i := range values {
		values[i] = math.Float64frombits(rng.Uint64())
		if rng.IntN(4) == 0 {
			values[i] = []float64{0, math.Copysign(0, -1), math.Inf(1), math.NaN()}[rng.IntN(4)]
		}
	}
	return values
}

// randomTexts draws from few or many values, short and long, some of similar length and content.
func randomTexts(rng *rand.Rand, rows int) [][]byte {
	different, longest := 1+rng.IntN(1<<rng.IntN(12)), 1+rng.IntN(20)
	pool := make([][]byte, different)
	for i := range pool {
		pool[i] = make([]byte, rng.IntN(longest))
		for k := range pool[i] {
			pool[i][k] = "\x00ab\xff"[rng.IntN(4)]
		}
	}
	values := make([][]byte, rows)
	for i := range values {
		values[i] = pool[rng.IntN(different)]
	}
	return values
}

func (m model) appendRow(b *Builder, row int) {
	for i := range m.spec {
		m.appendValue(b, i, row)
	}
}

func (m model) appendValue(b *Builder, column, row int) {
	switch v := m.columns[column].(type) {
	case []int64:
		b.Int(column).Append(v[row])
	case []float64:
		b.Float(column).Append(v[row])
	case [][]byte:
		if m.spec[column].Kind == Text {
			b.Text(column).Append(v[row])
			return
		}
		if row%2 == 0 || !b.Dict(column).AppendKnown(v[row]) {
			b.Dict(column).Append(v[row])
		}
	}
}

// check compares every way to read got with the model.
func (m model) check(t *testing.T, got *Batch) {
	t.Helper()
	if got.Rows() != m.rows {
		t.Fatalf("%d rows, want %d", got.Rows(), m.rows)
	}
	for i, f := range m.spec {
		switch f.Kind {
		case Int:
			checkInts(t, got.Ints(i), m.columns[i].([]int64))
		case Float:
			checkFloats(t, got.Floats(i), m.columns[i].([]float64))
		case Text:
			checkTexts(t, got.Texts(i), m.columns[i].([][]byte))
		case Dict:
			checkDicts(t, got.Dicts(i), m.columns[i].([][]byte))
		}
	}
}

func checkInts(t *testing.T, got Ints, want []int64) {
	t.Helper()
	all := got.AppendTo([]int64{7})
	if len(all) != len(want)+1 || all[0] != 7 {
		t.Fatalf("AppendTo gives %d values, want %d", len(all)-1, len(want))
	}
	constant, is := got.Const()
	for row, v := range want {
		if got.At(row) != v || all[row+1] != v || is && constant != v {
			t.Fatalf("row %d: At %d, AppendTo %d, want %d", row, got.At(row), all[row+1], v)
		}
	}
}

func checkFloats(t *testing.T, got Floats, want []float64) {
	t.Helper()
	if n := len(got.AppendTo(nil)); n != len(want) {
		t.Fatalf("%d values, want %d", n, len(want))
	}
	for row, v := range want {
		if math.Float64bits(got.At(row)) != math.Float64bits(v) {
			t.Fatalf("row %d: At %v, want %v", row, got.At(row), v)
		}
	}
}

func checkTexts(t *testing.T, got Texts, want [][]byte) {
	t.Helper()
	if got.heap.len() != len(want) {
		t.Fatalf("%d texts, want %d", got.heap.len(), len(want))
	}
	for row, v := range want {
		if !bytes.Equal(got.At(row), v) {
			t.Fatalf("row %d: %q, want %q", row, got.At(row), v)
		}
	}
}

func checkDicts(t *testing.T, got Dicts, want [][]byte) {
	t.Helper()
	codes := got.AppendCodes([]uint32{7})
	if got.Rows() != len(want) || len(codes) != len(want)+1 || codes[0] != 7 {
		t.Fatalf("%d rows, AppendCodes gives %d, want %d", got.Rows(), len(codes)-1, len(want))
	}
	for row, v := range want {
		code := got.Code(row)
		if code != codes[row+1] || !bytes.Equal(got.Entry(int(code)), v) || !bytes.Equal(got.At(row), v) {
			t.Fatalf("row %d: code %d and %d, %q, want %q", row, code, codes[row+1], got.At(row), v)
		}
	}
	// Codes follow the order of first occurrence, and each value has one.
	seen := map[string]bool{}
	for _, v := range want {
		if n := len(seen); !seen[string(v)] {
			if !bytes.Equal(got.Entry(n), v) {
				t.Fatalf("entry %d is %q, want %q", n, got.Entry(n), v)
			}
			seen[string(v)] = true
		}
	}
	if got.Len() != len(seen) {
		t.Fatalf("%d entries, want %d", got.Len(), len(seen))
	}
}

func TestWhatIsBuiltIsRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		spec := randomSpec(rng)
		b := NewBuilder(spec)
		for range 3 { // the builder is reused, and nothing may remain from before
			m := randomModel(rng, spec, rng.IntN(1<<rng.IntN(11)))
			for row := range m.rows {
				m.appendRow(b, row)
			}
			prefix := []byte("before")
			frame := b.Append(prefix)
			if !bytes.HasPrefix(frame, prefix) || len(frame)-len(prefix) > b.Size() {
				t.Fatalf("the frame has %d bytes, size says %d", len(frame)-len(prefix), b.Size())
			}
			got, err := Decode(frame[len(prefix):], spec)
			if err != nil {
				t.Fatal(err)
			}
			m.check(t, got)
			m.check(t, b.View())
			b.Reset()
		}
	}
}

// TestRowsTakenBackLeaveNoTrace: a frame must not show which rows were rejected, or what a builder was used for before.
// Otherwise the same rows would have different bytes on different nodes.
func TestRowsTakenBackLeaveNoTrace(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		spec := randomSpec(rng)
		m, junk := randomModel(rng, spec, rng.IntN(900)), randomModel(rng, spec, 1500)
		clean, dirty := NewBuilder(spec), NewBuilder(spec)
		for row := range m.rows {
			m.appendRow(clean, row)
			for range rng.IntN(3) {
				rows := dirty.Rows()
				for r := range rng.IntN(4) {
					junk.appendRow(dirty, (row+r)%junk.rows)
				}
				for i := range rng.IntN(len(spec) + 1) { // a part of a row
					junk.appendValue(dirty, i, rng.IntN(junk.rows))
				}
				dirty.Truncate(rows)
			}
			m.appendRow(dirty, row)
		}
		want := clean.Append(nil)
		if got := dirty.Append(nil); !bytes.Equal(got, want) {
			t.Fatalf("the frame differs after rows were taken back:\n%x\n%x", got, want)
		}
		got, err := Decode(want, spec)
		if err != nil {
			t.Fatal(err)
		}
		m.check(t, got)
	}
}

func TestTakingBackManyEntriesAcrossGrowth(t *testing.T) {
	spec := []FieldSpec{{"d", Dict}}
	b, want := NewBuilder(spec), NewBuilder(spec)
	text := func(i int) []byte { return []byte(strings.Repeat("v", i%9) + fmt.Sprint(i)) }
	for i := range 100 {
		b.Dict(0).Append(text(i))
		want.Dict(0).Append(text(i))
	}
	for i := range 20_000 {
		b.Dict(0).Append(text(i))
	}
	b.Truncate(100)
	for i := range 5000 {
		b.Dict(0).Append(text(2 * i))
		want.Dict(0).Append(text(2 * i))
	}
	if !bytes.Equal(b.Append(nil), want.Append(nil)) {
		t.Error("the dictionary differs after entries were taken back")
	}
	if n := b.Dict(0).entries.len(); n != 5050 {
		t.Errorf("%d entries, want 5050", n)
	}
}
