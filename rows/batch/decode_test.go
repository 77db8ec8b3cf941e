package batch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"posta.dev/posta/internal/wire"
)

var all = []FieldSpec{{"i", Int}, {"f", Float}, {"t", Text}, {"d", Dict}}

func sample(rows int) []byte {
	b := NewBuilder(all)
	for i := range rows {
		b.Int(0).Append(int64(i * i))
		b.Float(1).Append(float64(i) / 3)
		b.Text(2).Append(bytes.Repeat([]byte{'x'}, i%5))
		b.Dict(3).Append([]byte(fmt.Sprint(i % 3)))
	}
	return b.Append(nil)
}

// use reads everything in a batch: after Decode nothing may fail.
func use(b *Batch) (sum int) {
	ints, floats, texts, dicts := b.Ints(0), b.Floats(1), b.Texts(2), b.Dicts(3)
	for row := range b.Rows() {
		sum += int(ints.At(row)) + len(texts.At(row)) + len(dicts.At(row))
		if floats.At(row) > 0 {
			sum++
		}
	}
	for i := range dicts.Len() {
		sum += len(dicts.Entry(i))
	}
	return sum + len(ints.AppendTo(nil)) + len(dicts.AppendCodes(nil))
}

func TestEveryCutFrameIsRefused(t *testing.T) {
	frame := sample(20)
	for n := range frame {
		if _, err := Decode(frame[:n], all); !errors.Is(err, ErrMalformed) {
			t.Fatalf("the first %d of %d bytes: %v, want ErrMalformed", n, len(frame), err)
		}
	}
	if _, err := Decode(append(frame, 0), all); !errors.Is(err, ErrMalformed) {
		t.Errorf("a byte too many: %v, want ErrMalformed", err)
	}
}

func TestAnyChangedByteIsRefusedOrReadable(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	frame := sample(20)
	refused := 0
	for range 100_000 {
		p := bytes.Clone(frame)
		for range 1 + rng.IntN(3) {
			p[rng.IntN(len(p))] = byte(rng.Uint32())
		}
		b, err := Decode(p, all)
		if err != nil {
			refused++
			continue
		}
		use(b)
	}
	if refused == 0 || refused == 100_000 {
		t.Errorf("%d of 100000 changed frames were refused", refused)
	}
}

// handmade writes a frame of one column with the given parts after its name and kind.
func handmade(rows uint64, kind Kind, parts int, rest func(dst []byte) []byte) []byte {
	p := wire.AppendUint(wire.AppendUint(wire.AppendArray(nil, 3), version), rows)
	p = appendHead(wire.AppendArray(p, 1), parts, "c", kind)
	return rest(p)
}

func offsets(values ...uint32) []byte {
	var p []byte
	for _, v := range values {
		p = binary.LittleEndian.AppendUint32(p, v)
	}
	return p
}

func TestLyingFramesAreRefused(t *testing.T) {
	ints := func(width uint64, blob int) func([]byte) []byte {
		return func(p []byte) []byte {
			return wire.AppendBin(wire.AppendUint(wire.AppendInt(p, 5), width), make([]byte, blob))
		}
	}
	text := func(offsets, data []byte) func([]byte) []byte {
		return func(p []byte) []byte { return wire.AppendBin(wire.AppendBin(p, offsets), data) }
	}
	dict := func(offsets, data []byte, width uint64, codes []byte) func([]byte) []byte {
		return func(p []byte) []byte { return wire.AppendBin(wire.AppendUint(text(offsets, data)(p), width), codes) }
	}
	ab := []byte("ab")
	for _, c := range []struct {
		name  string
		frame []byte
		kind  Kind
		want  error
	}{
		{"a sound one", handmade(2, Int, intParts, ints(4, 8)), Int, nil},
		{"width 3", handmade(2, Int, intParts, ints(3, 6)), Int, ErrMalformed},
		{"width 16", handmade(2, Int, intParts, ints(16, 32)), Int, ErrMalformed},
		{"huge width, no rows", handmade(0, Int, intParts, ints(math.MaxUint64, 0)), Int, ErrMalformed},
		{"blob too short", handmade(2, Int, intParts, ints(4, 7)), Int, ErrMalformed},
		{"blob too long", handmade(2, Int, intParts, ints(4, 9)), Int, ErrMalformed},
		{"a part too many", handmade(2, Int, intParts+1, ints(4, 8)), Int, ErrMalformed},
		{"another kind", handmade(2, Int, intParts, ints(4, 8)), Float, ErrSpec},
		{"too many rows", handmade(MaxRows+1, Int, intParts, ints(0, 0)), Int, ErrTooLarge},
		{"most rows", handmade(MaxRows, Int, intParts, ints(0, 0)), Int, nil},
		{"sound text", handmade(2, Text, textParts, text(offsets(0, 1, 2), ab)), Text, nil},
		{"no offsets", handmade(0, Text, textParts, text(nil, nil)), Text, ErrMalformed},
		{"offsets of 5 bytes", handmade(0, Text, textParts, text(make([]byte, 5), nil)), Text, ErrMalformed},
		{"offsets that fall", handmade(3, Text, textParts, text(offsets(0, 2, 1, 2), ab)), Text, ErrMalformed},
		{"offsets that start late", handmade(1, Text, textParts, text(offsets(1, 2), ab)), Text, ErrMalformed},
		{"offsets beyond the bytes", handmade(1, Text, textParts, text(offsets(0, 3), ab)), Text, ErrMalformed},
		{"offsets short of the bytes", handmade(1, Text, textParts, text(offsets(0, 1), ab)), Text, ErrMalformed},
		{"fewer texts than rows", handmade(3, Text, textParts, text(offsets(0, 1, 2), ab)), Text, ErrMalformed},
		{"sound dict", handmade(2, Dict, dictParts, dict(offsets(0, 1, 2), ab, 1, []byte{1, 0})), Dict, nil},
		{"sound empty dict", handmade(0, Dict, dictParts, dict(offsets(0), nil, 0, nil)), Dict, nil},
		{"rows without entries", handmade(2, Dict, dictParts, dict(offsets(0), nil, 0, nil)), Dict, ErrMalformed},
		{"code of 1 byte too large", handmade(2, Dict, dictParts, dict(offsets(0, 1, 2), ab, 1, []byte{1, 2})), Dict, ErrMalformed},
		{"code of 2 bytes too large", handmade(2, Dict, dictParts, dict(offsets(0, 1, 2), ab, 2, []byte{1, 0, 0, 1})), Dict, ErrMalformed},
		{"code of 4 bytes too large", handmade(1, Dict, dictParts, dict(offsets(0, 1, 2), ab, 4, offsets(math.MaxUint32))), Dict, ErrMalformed},
		{"codes of 8 bytes", handmade(1, Dict, dictParts, dict(offsets(0, 1, 2), ab, 8, make([]byte, 8))), Dict, ErrMalformed},
		{"dictionary that lies", handmade(1, Dict, dictParts, dict(offsets(0, 2, 1), ab, 1, []byte{0})), Dict, ErrMalformed},
	} {
		if _, err := Decode(c.frame, []FieldSpec{{"c", c.kind}}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestFramesOfAnotherSpecAreRefused(t *testing.T) {
	frame := sample(3)
	for _, spec := range [][]FieldSpec{all[:3], {all[1], all[0], all[2], all[3]}, {{"j", Int}, all[1], all[2], all[3]},
		slices.Concat(all, []FieldSpec{{"x", Int}}), nil} {
		if _, err := Decode(frame, spec); !errors.Is(err, ErrSpec) {
			t.Errorf("%v: %v, want ErrSpec", spec, err)
		}
	}
	if b, err := Decode(frame, all); err != nil || use(b) == 0 {
		t.Errorf("its own spec: %v", err)
	}
}

func TestAnnouncedLengthsAllocateNothing(t *testing.T) {
	frame := handmade(MaxRows, Text, textParts, func(p []byte) []byte { return append(p, 0xc6, 0xff, 0xff, 0xff, 0xff) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if _, err := Decode(frame, []FieldSpec{{"c", Text}}); !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("100 refusals allocated %d bytes", grown)
	}
}

func TestFramesAreMsgpackForEveryone(t *testing.T) {
	frame := sample(20)
	var v []any
	if err := msgpack.Unmarshal(frame, &v); err != nil || len(v) != 3 {
		t.Fatalf("%v, %v", v, err)
	}
	column := v[2].([]any)[0].([]any)
	if column[0] != "i" || len(column) != intParts || len(column[4].([]byte)) != 20*2 {
		t.Errorf("the first column is %v", column)
	}
}

// TestNumbersTakeTheBytesTheyNeed pins the widths on which the speed of the network part depends.
func TestNumbersTakeTheBytesTheyNeed(t *testing.T) {
	for _, c := range []struct {
		low, high int64
		width     int
	}{
		{5, 5, 0}, {1 << 40, 1<<40 + 255, 1}, {-128, 128, 2}, {-1, 65534, 2}, {0, 65536, 4}, {0, math.MaxUint32, 4},
		{-1, math.MaxUint32, 8}, {math.MinInt64, math.MaxInt64, 8}, {math.MinInt64, math.MinInt64, 0},
	} {
		b := NewBuilder(all[:1])
		b.Int(0).Append(c.high)
		b.Int(0).Append(c.low)
		got, err := Decode(b.Append(nil), all[:1])
		if err != nil {
			t.Fatal(err)
		}
		if v := got.Ints(0); v.width != c.width || v.At(0) != c.high || v.At(1) != c.low {
			t.Errorf("%d … %d: width %d, want %d; values %d, %d", c.low, c.high, v.width, c.width, v.At(1), v.At(0))
		}
	}
}

func TestManyDictionaryEntriesWiden(t *testing.T) {
	for entries, width := range map[int]int{1: 0, 2: 1, 256: 1, 257: 2, 1 << 16: 2, 1<<16 + 1: 4} {
		b := NewBuilder([]FieldSpec{{"d", Dict}})
		m := model{spec: b.spec, rows: entries + 1}
		values := make([][]byte, entries+1)
		for i := range values {
			values[i] = fmt.Appendf(nil, "entry %d", i%entries)
		}
		m.columns = []any{values}
		for row := range m.rows {
			m.appendRow(b, row)
		}
		got, err := Decode(b.Append(nil), b.spec)
		if err != nil {
			t.Fatal(err)
		}
		if w := got.Dicts(0).width; w != width {
			t.Errorf("%d entries: width %d, want %d", entries, w, width)
		}
		m.check(t, got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(sample(0))
	f.Add(sample(1))
	f.Add(sample(9))
	f.Fuzz(func(t *testing.T, p []byte) {
		b, err := Decode(p, all)
		if err != nil {
			if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrSpec) && !errors.Is(err, ErrTooLarge) {
				t.Fatalf("an error without a sentinel: %v", err)
			}
			return
		}
		if b.Rows() > 1<<16 {
			return // reading them all takes the fuzzer too long
		}
		use(b)
	})
}

// TestWideBatchesHaveFewerRows: a column of equal numbers costs no bytes, so the length of a frame bounds neither rows nor columns.
func TestWideBatchesHaveFewerRows(t *testing.T) {
	spec := make([]FieldSpec, MaxColumns)
	for i := range spec {
		spec[i] = FieldSpec{fmt.Sprintf("c%d", i), Int}
	}
	// the columns are missing
	for rows, want := range map[uint64]error{MaxValues / MaxColumns: ErrMalformed, MaxValues/MaxColumns + 1: ErrTooLarge} {
		frame := wire.AppendArray(wire.AppendUint(wire.AppendUint(wire.AppendArray(nil, 3), version), rows), MaxColumns)
		frame = append(frame, make([]byte, MaxColumns)...)
		if _, err := Decode(frame, spec); !errors.Is(err, want) && !(want == ErrMalformed && err != nil && !errors.Is(err, ErrTooLarge)) {
			t.Errorf("%d rows: %v, want %v", rows, err, want)
		}
	}
}
