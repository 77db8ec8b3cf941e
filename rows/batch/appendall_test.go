package batch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// laid puts values into one piece of data, as a chunk has them.
func laid(rng *rand.Rand, values [][]byte) (data []byte, from, to []uint32) {
	data = bytes.Repeat([]byte{','}, rng.IntN(9))
	for _, v := range values {
		from = append(from, uint32(len(data)))
		data = append(data, v...)
		to = append(to, uint32(len(data)))
		if rng.IntN(3) > 0 {
			data = append(data, "\n;"[rng.IntN(2)])
		}
	}
	return data, from, to
}

// FuzzAppendAll: rows added many at a time, one by one, and with rows removed in between, have the same wire form.
func FuzzAppendAll(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 42))
		one, all := newDictBuilder(), newDictBuilder()
		values := 1 + rng.IntN(3000)
		longest := []int{3, 9, 18, 40}[rng.IntN(4)]
		for range 1 + rng.IntN(4) {
			var rows [][]byte
			for range rng.IntN(2000) {
				seed := rand.New(rand.NewPCG(uint64(rng.IntN(values)), 7))
				v := make([]byte, seed.IntN(longest+1))
				for i := range v {
					v[i] = "\x00ab\xff"[seed.IntN(4)]
				}
				rows = append(rows, v)
			}
			for _, v := range rows {
				one.Append(v)
			}
			for len(rows) > 0 {
				n := min(len(rows), 1+rng.IntN(400))
				if rng.IntN(4) == 0 {
					n = 1
					all.Append(rows[0])
				} else {
					data, from, to := laid(rng, rows[:n])
					all.AppendAll(data, from, to)
				}
				rows = rows[n:]
			}
			if rng.IntN(2) == 0 {
				n := rng.IntN(one.rows() + 1)
				one.truncate(n)
				all.truncate(n)
			}
		}
		if a, b := one.append(nil, "c"), all.append(nil, "c"); !bytes.Equal(a, b) {
			t.Fatalf("%d rows of %d entries, and %d of %d", one.rows(), one.Len(), all.rows(), all.Len())
		}
	})
}

// FuzzEntriesThatAreNotLookedFor: whatever values are added in whatever way, and removed again, the rows that are left have their values.
func FuzzEntriesThatAreNotLookedFor(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 44))
		b := newDictBuilder()
		var want [][]byte
		draw := func() []byte { return fmt.Append(nil, "value "[:rng.IntN(7)], rng.IntN(3000)) }
		for range 1 + rng.IntN(12) {
			var rows [][]byte
			for range rng.IntN(800) {
				rows = append(rows, draw())
			}
			data, from, to := laid(rng, rows)
			switch rng.IntN(8) {
			case 0:
				b.AppendAll(data, from, to)
			case 5, 6:
				b.AppendViews(data, from, to)
			case 1:
				b.AppendNew(data, from, to)
			case 2:
				for _, v := range rows {
					b.Append(v)
				}
			case 3:
				if len(rows) > 0 && b.AppendKnown(rows[0]) {
					want = append(want, rows[0])
				}
				rows = nil
			case 4:
				n := rng.IntN(len(want) + 1)
				b.truncate(n)
				rows, want = nil, want[:n]
			default:
				entries, known := rows, make([]uint32, len(rows))
				rows = nil
				for range 3 {
					var codes []uint32
					for k := range entries {
						code := rng.IntN(k + 1)
						codes, rows = append(codes, uint32(code)), append(rows, entries[code])
					}
					b.AppendCodes(codes, known, rng.IntN(2) == 0, func(code uint32) []byte { return entries[code] })
				}
			}
			want = append(want, rows...)
		}
		view := b.view().(Dicts)
		for k, v := range want {
			if !bytes.Equal(view.At(k), v) || view.AppendCodes(nil)[k] != view.Code(k) {
				t.Fatalf("row %d is %q in a view, and not %q", k, view.At(k), v)
			}
		}
		if b.own(); len(b.first) != b.Len() || len(b.index.keys) != b.Len() || b.rows() != len(want) {
			t.Fatalf("%d entries with %d rows and %d keys, %d rows of %d", b.Len(), len(b.first), len(b.index.keys), b.rows(), len(want))
		}
		for k, code := range b.Codes() {
			if !bytes.Equal(b.Entry(int(code)), want[k]) {
				t.Fatalf("row %d is %q, and not %q", k, b.Entry(int(code)), want[k])
			}
		}
		b.reset()
		if b.index.used != 0 || b.Len() != 0 {
			t.Fatal("a reset builder has entries")
		}
	})
}

// TestViewsAreCopiedOnlyForCodes: views are in the caller's memory until somebody asks for codes, entries or the wire form, or a value is
// appended in another way. After that the caller's memory may change.
func TestViewsAreCopiedOnlyForCodes(t *testing.T) {
	for name, asks := range map[string]func(b *DictBuilder){
		"Codes": func(b *DictBuilder) { b.Codes() }, "Len": func(b *DictBuilder) { b.Len() }, "Entry": func(b *DictBuilder) { b.Entry(0) },
		"size": func(b *DictBuilder) { b.size() }, "append": func(b *DictBuilder) { b.append(nil, "c") },
		"Append":      func(b *DictBuilder) { b.Append(nil); b.truncate(2) },
		"AppendKnown": func(b *DictBuilder) { b.AppendKnown(nil) },
		"AppendAll":   func(b *DictBuilder) { b.AppendAll(nil, nil, nil) },
		"AppendNew":   func(b *DictBuilder) { b.AppendNew(nil, nil, nil) },
		"AppendCodes": func(b *DictBuilder) { b.AppendCodes(nil, nil, false, nil) },
	} {
		b, data := newDictBuilder(), []byte("onetwo and three")
		b.AppendViews(data, []uint32{0, 3, 10}, []uint32{3, 6, 16})
		b.truncate(2)
		data[0] = 'O'
		if views := b.Views(); len(views) != 2 || views[0] != "One" || views[1] != "two" {
			t.Fatalf("%s: views %q", name, views)
		}
		asks(b)
		data[0] = 'o'
		if b.Views() != nil || b.Len() != 2 || string(b.Entry(0)) != "One" || b.rows() != 2 {
			t.Errorf("%s: %d views, %d entries, the first is %q", name, len(b.Views()), b.Len(), b.Entry(0))
		}
		if b.reset(); b.Rows() != 0 || b.Views() != nil {
			t.Errorf("%s: %d rows after a reset", name, b.Rows())
		}
	}
}

// TestKeysOfEveryLength: values that differ only in their length, in one byte, or in what is around them in the data have codes of their
// own, and the same value has one code at every place.
func TestKeysOfEveryLength(t *testing.T) {
	var values [][]byte
	for n := range 40 {
		for _, b := range []byte{0, 'a', 0xff} {
			v := bytes.Repeat([]byte{b}, n)
			values = append(values, v)
			for i := range v {
				other := bytes.Clone(v)
				other[i] = 'b'
				values = append(values, other)
			}
		}
	}
	want := newDictBuilder()
	codes := map[string]uint32{}
	for _, v := range values {
		if _, has := codes[string(v)]; !has {
			codes[string(v)] = uint32(len(codes))
		}
		want.Append(v)
	}
	for pad := range 12 {
		for _, around := range []byte{0, 'a', 0xff} {
			d := newDictBuilder()
			data, from, to := bytes.Repeat([]byte{around}, pad), []uint32(nil), []uint32(nil)
			for _, v := range values {
				from = append(from, uint32(len(data)))
				data = append(data, v...)
				to = append(to, uint32(len(data)))
				data = append(data, bytes.Repeat([]byte{around}, pad)...)
			}
			d.AppendAll(data, from, to)
			for i, v := range values {
				if d.Codes()[i] != codes[string(v)] || want.Codes()[i] != codes[string(v)] || !bytes.Equal(d.Entry(int(d.Codes()[i])), v) {
					t.Fatalf("%q between %q has code %d, alone %d, want %d", v, around, d.Codes()[i], want.Codes()[i], codes[string(v)])
				}
			}
		}
	}
}

// TestAMillionEntries: a dictionary grows while rows are added many at a time.
// TestValuesThatLookLikeKeys: a long value that begins with the bytes of a short value's key is another value, and so is an empty one
// behind these bytes.
func TestValuesThatLookLikeKeys(t *testing.T) {
	for range 500 { // with other seeds each time, so that some of them are neighbours in the table
		d := newDictBuilder()
		var data []byte
		var from, to []uint32
		add := func(v []byte) {
			from = append(from, uint32(len(data)))
			data = append(data, v...)
			to = append(to, uint32(len(data)))
		}
		for i := range 30 {
			short := fmt.Appendf(nil, "%d", i)
			key := binary.LittleEndian.AppendUint64(nil, d.index.key(short).a)
			add(key)
			add(nil)
			add(append(key, 'x'))
			add(short)
		}
		d.AppendAll(data, from, to)
		for k := range from {
			d.AppendAll(data, from[k:k+1], to[k:k+1])
		}
		for k, code := range d.Codes() {
			k %= len(from)
			if want := data[from[k]:to[k]]; !bytes.Equal(d.Entry(int(code)), want) {
				t.Fatalf("%q is %q", want, d.Entry(int(code)))
			}
		}
	}
}

func TestAMillionEntries(t *testing.T) {
	const entries = 1_000_000
	d := newDictBuilder()
	var data []byte
	var from, to []uint32
	for i := range 2 * entries {
		from = append(from, uint32(len(data)))
		data = fmt.Appendf(data, "key %d of many", i%entries)
		to = append(to, uint32(len(data)))
	}
	for k := 0; k < len(from); k += 1000 {
		d.AppendAll(data, from[k:k+1000], to[k:k+1000])
	}
	if d.Len() != entries {
		t.Fatalf("%d entries", d.Len())
	}
	for i, code := range d.Codes() {
		if int(code) != i%entries {
			t.Fatalf("row %d has code %d", i, code)
		}
	}
}

// TestRoomIsNotCopied: values that are made in a builder's room are appended where they are, all or the first of them, and those of
// elsewhere are copied; also at both ends of the memory.
func TestRoomIsNotCopied(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	ints, floats := &IntBuilder{}, &FloatBuilder{}
	var want []int64
	for range 2000 {
		n := rng.IntN(40)
		room, rooms := ints.Room(n), floats.Room(n)
		if len(room) != 0 || cap(room) < n || len(rooms) != 0 || cap(rooms) < n {
			t.Fatalf("room for %d and %d of %d", cap(room), cap(rooms), n)
		}
		for range n {
			v := rng.Int64()
			room, rooms = append(room, v), append(rooms, float64(v))
		}
		kept := rng.IntN(n + 1)
		elsewhere := rng.IntN(4) == 0
		if elsewhere {
			room, rooms = append([]int64(nil), room...), append([]float64(nil), rooms...)
		}
		before := len(ints.values)
		if ints.AppendAll(room[:kept]); kept > 0 && !elsewhere && &ints.values[before] != &room[0] {
			t.Fatal("values were copied")
		}
		floats.AppendAll(rooms[:kept])
		want = append(want, room[:kept]...)
		if rng.IntN(9) == 0 {
			k := rng.IntN(len(want) + 1)
			ints.truncate(k)
			floats.truncate(k)
			want = want[:k]
		}
	}
	for k, v := range want {
		if ints.values[k] != v || floats.values[k] != float64(v) {
			t.Fatalf("row %d is %d and %v, and not %d", k, ints.values[k], floats.values[k], v)
		}
	}
	if len(ints.values) != len(want) || len(floats.values) != len(want) {
		t.Fatalf("%d and %d rows of %d", len(ints.values), len(floats.values), len(want))
	}
}
