package wal

import (
	"strings"
	"testing"
)

// segmentBytes returns the bytes of Appends with the given record sizes, as in the segment of record 1.
func segmentBytes(appends ...[]int) (b []byte, offsets []int) {
	i := Index(1)
	for _, sizes := range appends {
		for k, size := range sizes {
			var f frame
			data := []byte(strings.Repeat(string(rune('a'+int(i)%26)), size))
			if err := setFrame(&f, Record{Type: 1, Parts: [][]byte{data}}, i, uint32(k)); err != nil {
				panic(err)
			}
			offsets = append(offsets, len(b))
			b = appendEntry(b, &f)
			i++
		}
	}
	return b, offsets
}

func appendEntry(b []byte, f *frame) []byte {
	for n := f.size; ; n >>= 7 {
		if n < 0x80 {
			b = append(b, byte(n))
			break
		}
		b = append(b, byte(n)|0x80)
	}
	return f.appendTo(b)
}

func zero(b []byte, from, to int) { clear(b[from:to]) }

// TestW2_TailOrCorruption tests the decision in small cases. Sectors have 512 bytes.
func TestW2_TailOrCorruption(t *testing.T) {
	for _, c := range []struct {
		name    string
		appends [][]int
		damage  func(b []byte, off []int) []byte
		good    int  // records before the damage
		torn    bool // otherwise corruption
	}{
		{"cut short", [][]int{{100}, {100}}, func(b []byte, off []int) []byte { return b[:len(b)-1] }, 1, true},
		{"last record flipped", [][]int{{100}, {100}}, func(b []byte, off []int) []byte { b[off[1]+30] ^= 1; return b }, 1, true},
		{"flipped, a later append follows", [][]int{{100}, {100}}, func(b []byte, off []int) []byte { b[off[0]+30] ^= 1; return b }, 0, false},
		{"zeroed, a later append follows", [][]int{{900}, {100}}, func(b []byte, off []int) []byte { zero(b, 0, 512); return b }, 0, false},
		{"flipped, the same append follows", [][]int{{100, 100}}, func(b []byte, off []int) []byte { b[off[0]+30] ^= 1; return b }, 0, false},
		{"first sector of an append never written", [][]int{{600, 100}}, func(b []byte, off []int) []byte { zero(b, 0, 512); return b }, 0, true},
		{"middle sector never written", [][]int{{10}, {1500, 100}}, func(b []byte, off []int) []byte { zero(b, 512, 1024); return b }, 1, true},
		{"sector shared with an older append", [][]int{{100}, {800, 100}}, func(b []byte, off []int) []byte { zero(b, off[1], 512); return b },
			1, true},
		{"zeros that are not a sector", [][]int{{1500, 100}}, func(b []byte, off []int) []byte { zero(b, 520, 1020); return b }, 0, false},
		{"two sectors lost, small records between", [][]int{{600, 300, 300, 300, 300}},
			func(b []byte, off []int) []byte { zero(b, 0, 512); zero(b, 1024, 1536); return b }, 0, true},
		{"sector lost, then a later append", [][]int{{600, 100}, {100}}, func(b []byte, off []int) []byte { zero(b, 0, 512); return b }, 0,
			false},
		{"only zeros", nil, func(b []byte, off []int) []byte { return make([]byte, 3000) }, 0, true},
	} {
		b, off := segmentBytes(c.appends...)
		b = c.damage(b, off)
		s := scanSegment(b, 1, nil)
		if s.records() != c.good || s.whole() {
			t.Errorf("%s: %d good records, whole %v", c.name, s.records(), s.whole())
		}
		if corruption := tornOrCorrupt(b, s); (corruption == "") != c.torn {
			t.Errorf("%s: corruption %q, want torn %v", c.name, corruption, c.torn)
		}
	}
}

// TestW2_RecordInsideARecord: a payload that looks like records neither turns a torn record into corruption nor makes a damaged one good.
func TestW2_RecordInsideARecord(t *testing.T) {
	inner, _ := segmentBytes([]int{5}, []int{5}, []int{5})
	var f frame
	if err := setFrame(&f, Record{Type: 1, Parts: [][]byte{inner}}, 9, 0); err != nil {
		t.Fatal(err)
	}
	b := appendEntry(nil, &f)
	whole := scanSegment(b, 9, nil)
	if whole.records() != 1 || !whole.whole() {
		t.Fatalf("%+v", whole)
	}
	b = b[:len(b)-1]
	if s := scanSegment(b, 9, nil); s.records() != 0 || tornOrCorrupt(b, s) != "" {
		t.Fatalf("a torn record: %+v, %q", s, tornOrCorrupt(b, s))
	}
}

// TestW1_StaleBlockIsNoRecord: the file system hands out a block again that holds a complete record from another place in the log.
func TestW1_StaleBlockIsNoRecord(t *testing.T) {
	b, off := segmentBytes([]int{50}, []int{50}, []int{50})
	stale := append(append([]byte(nil), b[:off[1]]...), b[:off[1]]...)
	if s := scanSegment(stale, 1, nil); s.records() != 1 || tornOrCorrupt(stale, s) != "" {
		t.Fatalf("%+v, %q", s, tornOrCorrupt(stale, s))
	}
}

// FuzzScan: for any bytes, the scanner ends, its good part is good by itself, the encoder would write what it accepts, and a corruption has
// a reason.
func FuzzScan(f *testing.F) {
	b, off := segmentBytes([]int{1}, []int{100, 700, 3}, []int{20})
	f.Add(b, uint64(1))
	f.Add(b[off[2]:], uint64(3))
	f.Add(b[:len(b)-4], uint64(1))
	f.Add(make([]byte, 600), uint64(1))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), uint64(1))
	var seal frame
	setSeal(&seal, 6, 0)
	f.Add(appendEntry(b, &seal), uint64(1))
	f.Fuzz(func(t *testing.T, b []byte, first uint64) {
		if first == 0 || first > 1<<62 {
			return
		}
		var again []byte
		n := 0
		s := scanSegment(b, Index(first), func(off int64, e entry) {
			if off != int64(len(again)) || e.index != Index(first)+Index(n) || len(e.data) == 0 {
				t.Fatalf("record %d at %d: %+v", n, off, e)
			}
			var f frame
			if err := setFrame(&f, Record{Type: e.typ, Parts: [][]byte{e.data}}, e.index, e.back); err != nil {
				t.Fatal(err)
			}
			again = appendEntry(again, &f)
			n++
		})
		if n != s.records() || string(again) != string(b[:len(again)]) || !s.sealed && int64(len(again)) != s.end {
			t.Fatalf("%d records, %+v", n, s)
		}
		corruption := ""
		if !s.whole() {
			corruption = tornOrCorrupt(b, s)
		}
		cut := scanSegment(b[:s.end], Index(first), nil)
		if !cut.whole() || cut.records() != s.records() {
			t.Fatalf("the good part is not good: %+v after %+v (%s)", cut, s, corruption)
		}
	})
}

// appendTo gathers the frame, without tidwall's length.
func (f *frame) appendTo(dst []byte) []byte {
	dst = append(dst, f.head[:]...)
	for _, p := range f.parts {
		dst = append(dst, p...)
	}
	return dst
}
