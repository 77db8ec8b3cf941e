package wire

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

var edges = []int64{
	0, 1, 31, 32, 127, 128, 255, 256, math.MaxUint16, math.MaxUint16 + 1, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64,
	-1, -32, -33, -128, -129, math.MinInt16, math.MinInt16 - 1, math.MinInt32, math.MinInt32 - 1, math.MinInt64,
}

func randomInt(rng *rand.Rand) int64 {
	if rng.IntN(4) == 0 {
		return edges[rng.IntN(len(edges))]
	}
	return int64(rng.Uint64()) >> rng.IntN(64)
}

func TestIntegersRoundTripAndAreReadByTheLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 50_000 {
		v := randomInt(rng)
		if i < len(edges) {
			v = edges[i]
		}
		checkInt(t, v)
		checkUint(t, uint64(v))
	}
}

func checkInt(t *testing.T, v int64) {
	t.Helper()
	p := AppendInt(nil, v)
	var theirs int64
	if err := msgpack.Unmarshal(p, &theirs); err != nil || theirs != v {
		t.Fatalf("the library reads %d as %d, %v", v, theirs, err)
	}
	r := NewReader(p)
	if got := r.Int(); got != v || r.Done() != nil {
		t.Fatalf("%d is read as %d, %v", v, got, r.Err())
	}
	r = NewReader(p)
	if got := r.Uint(); v >= 0 && (got != uint64(v) || r.Done() != nil) || v < 0 && !errors.Is(r.Err(), ErrMalformed) {
		t.Fatalf("%d is read as unsigned %d, %v", v, got, r.Err())
	}
	r = NewReader(p)
	if got := r.Float(); got != float64(v) || r.Done() != nil {
		t.Fatalf("%d is read as float %v, %v", v, got, r.Err())
	}
}

func checkUint(t *testing.T, v uint64) {
	t.Helper()
	p := AppendUint(nil, v)
	var theirs uint64
	if err := msgpack.Unmarshal(p, &theirs); err != nil || theirs != v {
		t.Fatalf("the library reads %d as %d, %v", v, theirs, err)
	}
	r := NewReader(p)
	if got := r.Uint(); got != v || r.Done() != nil {
		t.Fatalf("%d is read as %d, %v", v, got, r.Err())
	}
	r = NewReader(p)
	if got := r.Int(); v <= math.MaxInt64 && got != int64(v) || v > math.MaxInt64 && !errors.Is(r.Err(), ErrMalformed) {
		t.Fatalf("%d is read as signed %d, %v", v, got, r.Err())
	}
}

// TestEveryFormOfTheLibraryIsRead: other clients need not write the shortest forms.
func TestEveryFormOfTheLibraryIsRead(t *testing.T) {
	encode := func(f func(e *msgpack.Encoder) error) []byte {
		var b bytes.Buffer
		if err := f(msgpack.NewEncoder(&b)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, p := range map[string][]byte{
		"int8":   encode(func(e *msgpack.Encoder) error { return e.EncodeInt8(77) }),
		"int16":  encode(func(e *msgpack.Encoder) error { return e.EncodeInt16(77) }),
		"int32":  encode(func(e *msgpack.Encoder) error { return e.EncodeInt32(77) }),
		"int64":  encode(func(e *msgpack.Encoder) error { return e.EncodeInt64(77) }),
		"uint8":  encode(func(e *msgpack.Encoder) error { return e.EncodeUint8(77) }),
		"uint16": encode(func(e *msgpack.Encoder) error { return e.EncodeUint16(77) }),
		"uint32": encode(func(e *msgpack.Encoder) error { return e.EncodeUint32(77) }),
		"uint64": encode(func(e *msgpack.Encoder) error { return e.EncodeUint64(77) }),
	} {
		i, u, f := NewReader(p), NewReader(p), NewReader(p)
		if i.Int() != 77 || u.Uint() != 77 || f.Float() != 77 || i.Done() != nil || u.Done() != nil || f.Done() != nil {
			t.Errorf("%s: %v, %v, %v", name, i.Err(), u.Err(), f.Err())
		}
	}
	r := NewReader(encode(func(e *msgpack.Encoder) error { return e.EncodeFloat32(1.5) }))
	if got := r.Float(); got != 1.5 || r.Done() != nil {
		t.Errorf("float32: %v, %v", got, r.Err())
	}
}

func TestTheOtherValuesRoundTrip(t *testing.T) {
	p := AppendArray(nil, 8)
	for _, v := range []float64{0, math.Copysign(0, -1), math.Inf(1), 1.0 / 3} {
		p = AppendFloat(p, v)
	}
	p = AppendNil(AppendBool(AppendBool(p, true), false))
	p = AppendMap(p, 1)
	p = AppendString(p, "key")
	p = AppendBin(p, []byte{1, 2})

	r := NewReader(p)
	r.ArrayOf(8)
	for _, v := range []float64{0, math.Copysign(0, -1), math.Inf(1), 1.0 / 3} {
		if got := r.Float(); math.Float64bits(got) != math.Float64bits(v) {
			t.Errorf("float %v, want %v", got, v)
		}
	}
	if !r.Bool() || r.Bool() || !r.IsNil() || r.IsNil() || r.Map() != 1 || r.String() != "key" || !bytes.Equal(r.BytesOf(2), []byte{1, 2}) ||
		r.Done() != nil {
		t.Errorf("read %v", r.Err())
	}
	var theirs []any
	if err := msgpack.Unmarshal(p, &theirs); err != nil || theirs[3] != 1.0/3 || theirs[4] != true || theirs[6] != nil {
		t.Errorf("the library reads %v, %v", theirs, err)
	}
}

func TestLengthsOfEveryWidth(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536, 70000} {
		text := strings.Repeat("x", n)
		checkBlob(t, AppendString(nil, text), text)
		checkBlob(t, AppendBin(nil, []byte(text)), text)
		array, pairs := AppendArray(nil, n), AppendMap(nil, n)
		for range n {
			array, pairs = AppendNil(array), AppendNil(AppendNil(pairs))
		}
		a, m := NewReader(array), NewReader(pairs)
		if a.Array() != n || m.Map() != n {
			t.Errorf("array or map of %d: %v, %v", n, a.Err(), m.Err())
		}
		var theirs []any
		if err := msgpack.Unmarshal(array, &theirs); err != nil || len(theirs) != n {
			t.Errorf("the library reads an array of %d as %d, %v", n, len(theirs), err)
		}
		if check(array, 1) != nil || check(pairs, 1) != nil || check(array, 0) == nil || check(append(array, 0xc0), 1) == nil {
			t.Errorf("Check of an array or map of %d is wrong", n)
		}
		if n > 0 && (check(array[:len(array)-1], 1) == nil || check(pairs[:len(pairs)-1], 1) == nil) {
			t.Errorf("Check accepts an array or map of %d cut short", n)
		}
	}
}

func checkBlob(t *testing.T, p []byte, want string) {
	t.Helper()
	r, s := NewReader(p), NewReader(p)
	if got := r.Bytes(); string(got) != want || r.Done() != nil || s.String() != want {
		t.Errorf("a blob of %d is read as one of %d, %v", len(want), len(got), r.Err())
	}
	for cut := range min(len(p), 10) {
		r := NewReader(p[:cut])
		if r.Bytes(); !errors.Is(r.Err(), ErrMalformed) {
			t.Errorf("the first %d bytes of a blob of %d: %v", cut, len(want), r.Err())
		}
	}
	wrong := NewReader(p)
	if got := wrong.BytesOf(len(want) + 1); got != nil || !errors.Is(wrong.Err(), ErrMalformed) {
		t.Errorf("BytesOf another length: %d bytes, %v", len(got), wrong.Err())
	}
}

func TestMadeUpLengthsAreRefusedBeforeUse(t *testing.T) {
	huge := []string{"\xdd\xff\xff\xff\xff", "\xdf\xff\xff\xff\xff", "\xdf\x80\x00\x00\x00", "\xc6\xff\xff\xff\xff", "\xdb\xff\xff\xff\xff",
		"\xc9\xff\xff\xff\xff\x01", "\x9f", "\x81\xc0"}
	for _, text := range huge {
		p := []byte(text)
		if err := check(p, 10); !errors.Is(err, ErrMalformed) {
			t.Errorf("% x: %v", p, err)
		}
		a, m, b := NewReader(p), NewReader(p), NewReader(p)
		if a.Array() != 0 || m.Map() != 0 || b.Bytes() != nil || a.Err() == nil || m.Err() == nil || b.Err() == nil {
			t.Errorf("% x: a length was believed", p)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		r := NewReader([]byte("\x01\xc4\x02ab\x93\x01\x02\x03"))
		r.Uint()
		r.Bytes()
		r.Skip(2)
	}); n > 0 {
		t.Errorf("%v allocations to read sound bytes", n)
	}
}

func TestTheFirstErrorSticks(t *testing.T) {
	r := NewReader([]byte("\xc1\x01\x02"))
	r.Int()
	first := r.Err()
	if !errors.Is(first, ErrMalformed) || !strings.Contains(first.Error(), "byte 0") || !strings.Contains(first.Error(), "0xc1") {
		t.Fatalf("error %v", first)
	}
	r.Fail("something else")
	if r.Int() != 0 || r.Uint() != 0 || r.Float() != 0 || r.Bool() || r.IsNil() || r.Bytes() != nil || r.String() != "" || r.Array() != 0 ||
		r.Map() != 0 || r.Rest() != nil {
		t.Error("a value came after an error")
	}
	r.Skip(3)
	r.ArrayOf(3)
	if r.Err() != first || r.Done() != first {
		t.Errorf("error %v, then %v", first, r.Err())
	}
}

func TestReadersSayWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		p    string
		read func(r *Reader)
		want string
	}{
		"bool":     {"\x01", func(r *Reader) { r.Bool() }, "boolean wanted, type byte 0x01"},
		"text":     {"\x01", func(r *Reader) { r.Bytes() }, "bytes or string wanted"},
		"array":    {"\x92\x01\x02", func(r *Reader) { r.ArrayOf(3) }, "array of 3 wanted, 2 found"},
		"map":      {"\x92\x01\x02", func(r *Reader) { r.Map() }, "0x92 found where an array or map"},
		"negative": {"\xff", func(r *Reader) { r.Uint() }, "unsigned integer wanted, -1 found"},
		"left":     {"\x01\x02", func(r *Reader) { r.Int() }, "1 bytes left over"},
		"fail":     {"", func(r *Reader) { r.Fail("width %d", 3) }, "width 3"},
	} {
		r := NewReader([]byte(c.p))
		c.read(&r)
		if err := r.Done(); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestRestIsAView(t *testing.T) {
	p := []byte("\x05rest")
	r := NewReader(p)
	r.Int()
	if got := r.Rest(); string(got) != "rest" || &got[0] != &p[1] || r.Len() != 0 || r.Done() != nil {
		t.Errorf("rest %q, %v", got, r.Err())
	}
	s := NewReader([]byte("\xa1ab"))
	if got := append(s.Bytes(), 'X'); string(got) != "aX" || string(s.Rest()) != "b" {
		t.Error("appending to a view wrote into the input")
	}
}

func TestNestingIsBounded(t *testing.T) {
	deep := bytes.Repeat([]byte{0x91}, 1<<20)
	if err := check(append(deep, 0xc0), 64); !errors.Is(err, ErrMalformed) {
		t.Errorf("a million arrays in each other: %v", err)
	}
	for depth := range 10 {
		p := append(bytes.Repeat([]byte{0x91}, depth), 0xc0)
		if check(p, depth) != nil || depth > 0 && check(p, depth-1) == nil {
			t.Errorf("depth %d is not told exactly", depth)
		}
	}
}

// anyValue appends a value of any form, including extensions.
func anyValue(rng *rand.Rand, p []byte, depth int) []byte {
	switch n := rng.IntN(12); {
	case n < 2 && depth > 0:
		k := rng.IntN(20)
		p = AppendArray(p, k)
		for range k {
			p = anyValue(rng, p, depth-1)
		}
		return p
	case n < 4 && depth > 0:
		k := rng.IntN(20)
		p = AppendMap(p, k)
		for range k {
			p = anyValue(rng, AppendString(p, "k"), depth-1)
		}
		return p
	case n == 5:
		return AppendFloat(p, rng.Float64())
	case n == 6:
		return AppendBin(p, make([]byte, rng.IntN(300)))
	case n == 7:
		size := rng.IntN(5)
		return append(append(p, 0xd4+byte(size), 1), make([]byte, 1<<size)...) // fixext
	case n == 8:
		size := rng.IntN(200)
		return append(append(p, 0xc7, byte(size), 1), make([]byte, size)...) // ext 8
	case n == 9:
		return append(p, 0xca, 0, 0, 0, 0)
	case n == 10:
		return AppendNil(p)
	}
	return AppendInt(p, randomInt(rng))
}

func TestSkipPassesOverAnyValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		p := anyValue(rng, nil, 3)
		if err := check(p, 3); err != nil {
			t.Fatalf("% x: %v", p, err)
		}
		if n := rng.IntN(len(p)); check(p[:n], 3) == nil {
			t.Fatalf("% x: the first %d bytes are taken for a value", p, n)
		}
	}
}

// FuzzReader reads bytes in the forms that ops says. The reader must not panic, not go back, and give no values after an
// error.
func FuzzReader(f *testing.F) {
	f.Add([]byte("\x93\x01\xa1a\xc4\x01b"), []byte{0, 1, 2, 3})
	f.Add([]byte("\xc9\xff\xff\xff\xff"), []byte{8})
	f.Fuzz(func(t *testing.T, p, ops []byte) {
		r := NewReader(p)
		for _, op := range ops {
			left, failed := r.Len(), r.Err()
			n := 0
			switch op % 10 {
			case 0:
				n = r.Array()
			case 1:
				n = r.Map()
			case 2:
				n = len(r.Bytes())
			case 3:
				r.Int()
			case 4:
				r.Uint()
			case 5:
				r.Float()
			case 6:
				r.Bool()
			case 7:
				r.IsNil()
			case 8:
				r.Skip(int(op) / 10)
			case 9:
				n = len(r.BytesOf(int(op)))
			}
			if r.Len() > left || n > left || failed != nil && r.Err() != failed {
				t.Fatalf("op %d: %d bytes left, then %d, length %d; error %v, then %v", op, left, r.Len(), n, failed, r.Err())
			}
		}
		if check(p, 8) == nil {
			// The library must decode safely what Check accepts; it may support fewer forms.
			var v any
			_ = msgpack.Unmarshal(p, &v)
		}
	})
}

func TestIsArrayLooksAndStays(t *testing.T) {
	for _, c := range []struct {
		bytes string
		want  bool
	}{
		{"", false}, {"\x90", true}, {"\x9f", true}, {"\xdc\x00\x00", true}, {"\xdd\x00\x00\x00\x00", true},
		{"\x80", false}, {"\xa0", false}, {"\xc0", false}, {"\xc4\x00", false}, {"\x00", false}, {"\xe0", false}, {"\xd3", false},
		{"\xde", false},
	} {
		r := NewReader([]byte(c.bytes))
		if got := r.IsArray(); got != c.want || r.Err() != nil || r.Len() != len(c.bytes) {
			t.Errorf("%q: %v, %v, %d bytes left", c.bytes, got, r.Err(), r.Len())
		}
		r.Fail("broken")
		if r.IsArray() {
			t.Errorf("%q: an array after an error", c.bytes)
		}
	}
}

func TestAppendBinOf_IsReadAsABin(t *testing.T) {
	for _, n := range []int{0, 1, 300, 70_000} {
		content := bytes.Repeat([]byte{'x'}, n)
		b := AppendUint(AppendBinOf(AppendUint(nil, 7), func(b []byte) []byte { return append(b, content...) }), 9)
		r := NewReader(b)
		if before, got, after := r.Uint(), r.Bytes(), r.Uint(); before != 7 || !bytes.Equal(got, content) || after != 9 || r.Done() != nil {
			t.Errorf("%d bytes came back as %d, between %d and %d: %v", n, len(got), before, after, r.Err())
		}
	}
}

// check reports whether b is exactly one well-formed value, nested at most depth deep.
func check(b []byte, depth int) error {
	r := NewReader(b)
	r.Skip(depth)
	return r.Done()
}
