package batch

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestSpecsAreChecked(t *testing.T) {
	many := make([]FieldSpec, MaxColumns+1)
	for i := range many {
		many[i] = FieldSpec{fmt.Sprint(i), Int}
	}
	for name, spec := range map[string][]FieldSpec{
		"none": nil, "too many": many, "no name": {{"", Int}}, "long name": {{strings.Repeat("n", 256), Int}}, "no kind": {{"a", 0}},
		"unknown kind": {{"a", 5}}, "twice": {{"a", Int}, {"b", Int}, {"a", Text}},
	} {
		if err := CheckSpec(spec); !errors.Is(err, ErrSpec) {
			t.Errorf("%s: %v, want ErrSpec", name, err)
		}
	}
	if err := CheckSpec(many[:MaxColumns]); err != nil {
		t.Error(err)
	}
}

func TestRaggedRowsAreNotSent(t *testing.T) {
	b := NewBuilder([]FieldSpec{{"a", Int}, {"b", Text}})
	b.Int(0).Append(1)
	if err := b.Check(); !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), `"b" has 0 rows, column "a" has 1`) {
		t.Errorf("Check: %v", err)
	}
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, ErrSpec) {
			t.Errorf("Append panics with %v, want ErrSpec", err)
		}
	}()
	b.Append(nil)
	t.Error("a frame was made of ragged rows")
}

func TestBuildersDoNotAllocateOnceWarm(t *testing.T) {
	b := NewBuilder(all)
	day, part, text, code := b.Int(0), b.Float(1), b.Text(2), b.Dict(3)
	texts := [][]byte{[]byte("6204"), []byte("6217"), []byte("a rather long station name")}
	var frame []byte
	fill := func() {
		b.Reset()
		for i := range 2000 {
			day.Append(int64(i))
			part.Append(float64(i))
			text.Append(texts[i%3])
			code.Append(texts[i%3])
		}
		frame = b.Append(frame[:0])
	}
	fill()
	if n := testing.AllocsPerRun(20, fill); n > 0 {
		t.Errorf("%v allocations per batch", n)
	}
}

// TestOnlyValuesOfRowsAreKnown: values of removed rows, and of the batch before, are not known.
func TestOnlyValuesOfRowsAreKnown(t *testing.T) {
	b := NewBuilder([]FieldSpec{{"d", Dict}})
	d := b.Dict(0)
	for _, v := range []string{"", "4.5", "3.3333333333333335"} {
		known := func(want bool, rows int) {
			t.Helper()
			if got := d.AppendKnown([]byte(v)); got != want || b.Rows() != rows {
				t.Errorf("%q: known %v with %d rows, want %v with %d", v, got, b.Rows(), want, rows)
			}
		}
		b.Reset()
		known(false, 0)
		d.Append([]byte(v))
		known(true, 2)
		d.Append([]byte("other"))
		known(true, 4)
		b.Truncate(0)
		known(false, 0)
	}
}

// TestOneLargeBatchDoesNotSlowDownTheNext: the hash table shrinks again.
func TestOneLargeBatchDoesNotSlowDownTheNext(t *testing.T) {
	b := NewBuilder(all[3:])
	for i := range 1 << 17 {
		b.Dict(0).Append(fmt.Append(nil, i))
	}
	for range 20 {
		b.Reset()
		b.Dict(0).Append([]byte("x"))
	}
	if n := len(b.Dict(0).index.slots); n != smallIndex {
		t.Errorf("%d slots for one entry, want %d", n, smallIndex)
	}
}

func TestKindsHaveNames(t *testing.T) {
	if got := fmt.Sprint(Int, Float, Text, Dict, Kind(9)); got != "int float text dict kind 9" {
		t.Error(got)
	}
}

// TestDict_TextsThatShareTheirWords: texts of 9 to 16 bytes are hashed as two words that overlap, so some texts of different lengths have
// the same words.
func TestDict_TextsThatShareTheirWords(t *testing.T) {
	b := NewBuilder([]FieldSpec{{Name: "d", Kind: Dict}}).Dict(0)
	for round := range 2 {
		for n := range 20 {
			b.Append(bytes.Repeat([]byte{'a'}, n))
			b.Append(append(bytes.Repeat([]byte{'a'}, n), 'b'))
		}
		if b.Len() != 40 || len(b.Codes()) != 40*(round+1) {
			t.Fatalf("%d entries of %d rows", b.Len(), len(b.Codes()))
		}
	}
	for row, code := range b.Codes() {
		if want := uint32(row % 40); code != want {
			t.Fatalf("row %d has code %d, not %d", row, code, want)
		}
	}
}
