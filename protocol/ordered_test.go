package protocol

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"testing"
)

// compareOrder returns the order that AppendOrdered documents.
func compareOrder(a, b []Value) int {
	for i := range a {
		var c int
		switch x, y := a[i], b[i]; x.Kind {
		case Int:
			c = cmp.Compare(x.Int, y.Int)
		case Float:
			c = cmp.Compare(x.Float, y.Float)
		default:
			c = bytes.Compare([]byte(x.Text), []byte(y.Text))
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func FuzzOrdered(f *testing.F) {
	for _, text := range []string{"", "a", "\x00", "a\x00", "a\x00\xff", "\xff", "ab", "a\x00b", "\x00\x00"} {
		f.Add(text, "a\x00", int64(math.MinInt64), int64(-1), 0.0, math.Inf(-1))
		f.Add("a", text, int64(math.MaxInt64), int64(0), -1.5, math.MaxFloat64)
	}
	f.Fuzz(func(t *testing.T, s1, s2 string, i1, i2 int64, f1, f2 float64) {
		a, b := []Value{{Text: s1}, {Kind: Float, Float: f1}, {Kind: Int, Int: i1}},
			[]Value{{Text: s2}, {Kind: Float, Float: f2}, {Kind: Int, Int: i2}}
		for range 3 {
			x, y := AppendOrdered(nil, a...), AppendOrdered(nil, b...)
			// NaN has several forms, and the order distinguishes 0 and -0, so only other numbers are compared here.
			if odd := func(v float64) bool { return v != v || v == 0 }; !odd(f1) && !odd(f2) && bytes.Compare(x, y) != compareOrder(a, b) {
				t.Fatalf("%v and %v are in order %d, want %d", a, b, bytes.Compare(x, y), compareOrder(a, b))
			}
			got := make([]Value, len(a))
			if err := ReadOrdered(x, got); err != nil || !bytes.Equal(AppendOrdered(nil, got...), x) || got[0].Kind != a[0].Kind ||
				got[2].Kind != a[2].Kind {
				t.Fatalf("%v is read back as %v, %v", a, got, err)
			}
			for n := range x {
				if ReadOrdered(x[:n], got) == nil {
					t.Fatalf("the first %d bytes of %x are taken for a row", n, x)
				}
			}
			if ReadOrdered(append(x, 0), got) == nil {
				t.Fatal("a byte behind the row is skipped")
			}
			one, other := NewRows(len(a)), NewRows(len(a))
			cells, rest := make([]OrderedCell, len(a)), x
			for i := range cells {
				cells[i], rest, _ = CutOrderedCell(rest, Direction{}) // no error: ReadOrdered read the same
			}
			if err, err2 := one.AddOrdered(cells), other.Add(a...); err != nil || err2 != nil || !bytes.Equal(one.Encoded(), other.Encoded()) {
				t.Fatalf("%v is %x as an ordered row, %x as values: %v, %v", a, one.Encoded(), other.Encoded(), err, err2)
			}
			a, b = append(a[1:], a[0]), append(b[1:], b[0])
		}
	})
}

// TestOrdered_TruthsAndNulls: false comes before true, and null after everything else.
func TestOrdered_TruthsAndNulls(t *testing.T) {
	var before []byte
	for i, v := range []Value{{Kind: Bool}, {Kind: Bool, Int: 1}, {Kind: Null}} {
		b := AppendOrdered(nil, v)
		got := make([]Value, 1)
		if err := ReadOrdered(b, got); err != nil || got[0] != v || bytes.Compare(before, b) >= 0 {
			t.Errorf("value %d: %v is read back as %v, %v", i, v, got[0], err)
		}
		before = b
	}
}

// TestOrdered_Directions: cells are in the order of their direction, whatever follows them, and are read back.
func TestOrdered_Directions(t *testing.T) {
	sorted := [][]Value{
		{{Text: ""}, {Text: "\x00"}, {Text: "\x00\x00"}, {Text: "\x00\xff"}, {Text: "a"}, {Text: "a\x00"}, {Text: "a\x00b"}, {Text: "ab"},
			{Text: "\xff"}, {Text: "\xff\x00"}, {Text: "\xff\xff"}},
		{{Kind: Int, Int: math.MinInt64}, {Kind: Int, Int: -1}, {Kind: Int}, {Kind: Int, Int: math.MaxInt64}},
		{{Kind: Float, Float: math.Inf(-1)}, {Kind: Float, Float: -1}, {Kind: Float}, {Kind: Float, Float: 1e300},
			{Kind: Float, Float: math.Inf(1)}, {Kind: Float, Float: math.NaN()}},
		{{Kind: Bool}, {Kind: Bool, Int: 1}},
	}
	for _, d := range []Direction{{}, {Desc: true}, {NullsFirst: true}, {Desc: true, NullsFirst: true}} {
		for _, values := range sorted {
			all := slices.Clone(values)
			if d.Desc {
				slices.Reverse(all)
			}
			if d.NullsFirst {
				all = slices.Insert(all, 0, Value{Kind: Null})
			} else {
				all = append(all, Value{Kind: Null})
			}
			var before []byte
			for i := range all {
				b := AppendOrderedCell(nil, &all[i], d)
				if i > 0 && (bytes.Compare(append(bytes.Clone(before), 0xff), b) >= 0 || bytes.Compare(before, append(bytes.Clone(b), 0)) >= 0) {
					t.Errorf("%+v: %v is not behind %v", d, all[i], all[i-1])
				}
				before = b
				cell, rest, err := CutOrderedCell(append(bytes.Clone(b), 0, 0xff, 0xff), d)
				got := cell.Value()
				if err != nil || !bytes.Equal(rest, []byte{0, 0xff, 0xff}) || !bytes.Equal(AppendOrderedCell(nil, &got, d), b) ||
					got.Kind != all[i].Kind || got.Text != all[i].Text {
					t.Errorf("%+v: %v is read back as %v, %x, %v", d, all[i], got, rest, err)
				}
				if plain := all[i].Append(nil); !bytes.Equal(cell.append(nil), plain) {
					t.Errorf("%+v: %v is %x in an answer, want %x", d, all[i], cell.append(nil), plain)
				}
				for n := range b {
					if _, _, err := CutOrderedCell(b[:n], d); err == nil {
						t.Errorf("%+v: the first %d bytes of %x are taken for a cell", d, n, b)
					}
				}
			}
		}
		for kind := int(kinds); kind < 256; kind++ {
			if _, _, err := CutOrderedCell(append([]byte{byte(kind)}, make([]byte, 16)...), d); err == nil {
				t.Errorf("kind %d is taken", kind)
			}
		}
	}
}

// TestCellsKeepTheirBytes: a text that is not UTF-8 travels as bin, as libraries of other languages refuse such a str.
func TestCellsKeepTheirBytes(t *testing.T) {
	for text, want := range map[string]string{"M\xfc": "\xc4\x02M\xfc", "Mü": "\xa3Mü", "": "\xa0"} {
		v := Value{Text: text}
		d := newDecoder(v.Append(nil))
		if got := string(v.Append(nil)); got != want {
			t.Errorf("%q travels as %q, want %q", text, got, want)
		}
		if got := d.value(); got != v {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
