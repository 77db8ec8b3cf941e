package csv

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// referenceIndex computes the index again, byte by byte: the separators and line feeds outside of quoted fields, and whether every
// quote is in a valid place. If not, they end where this shows. data starts at a record's start.
func referenceIndex(data []byte, comma byte) (commas, feeds []int, sound bool) {
	const (
		start = iota
		plain
		quoted
		closing  // a quote was seen in a quoted field
		returned // and then a carriage return
	)
	state := start
	for i, c := range data {
		switch {
		case state == quoted:
			if c == quote {
				state = closing
			}
		case state == returned && c != '\n':
			return commas, feeds, false
		case c == quote && state == plain:
			return commas, feeds, false
		case c == quote: // it opens, or is the second of a doubled one
			state = quoted
		case c == comma:
			commas, state = append(commas, i), start
		case c == '\n':
			feeds, state = append(feeds, i), start
		case state == closing && c == '\r':
			state = returned
		case state == closing:
			return commas, feeds, false
		default:
			state = plain
		}
	}
	return commas, feeds, true
}

func TestIndexOfAnyWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	x := new(index)
	sound := 0
	for range 400 {
		data, comma := ragged(rng), []byte{',', 0}[rng.IntN(2)]
		ends := []int{0}
		for at := 0; at < len(data); {
			at, _ = recordEnd(data, at, comma)
			ends = append(ends, at)
		}
		from := ends[rng.IntN(len(ends))]
		end := min(from+window, len(data))
		x.cover(data, from, comma)
		commas, feeds, ok := referenceIndex(data[from:end], comma)
		if x.sound != ok {
			t.Fatalf("the quotes of the window are sound: %v, want %v: %q", x.sound, ok, data[from:end])
		}
		if !ok {
			continue
		}
		sound++
		if x.n != len(commas) || x.pos[x.n] != beyond || x.end != end || x.lineFeed(end) != -1 ||
			x.quoted != (bytes.IndexByte(data[from:end], quote) >= 0) {
			t.Fatalf("%d separators, want %d; quotes: %v", x.n, len(commas), x.quoted)
		}
		for i, at := range commas {
			if int(x.pos[i]) != at {
				t.Fatalf("separator %d is at %d, want %d", i, x.pos[i], at)
			}
		}
		for i := from; i < end; i++ {
			if len(feeds) > 0 && feeds[0] < i-from {
				feeds = feeds[1:]
			}
			want := -1
			if len(feeds) > 0 {
				want = from + feeds[0]
			}
			if got := x.lineFeed(i); got != want {
				t.Fatalf("line feed after %d is at %d, want %d", i, got, want)
			}
		}
	}
	if sound < 100 || sound > 300 {
		t.Errorf("%d of 400 windows are sound: too few of them, or too few of the others", sound)
	}
}

// ragged returns random data of up to two windows: sound CSV in which some bytes are replaced, or rubbish.
func ragged(rng *rand.Rand) []byte {
	if rng.IntN(4) == 0 {
		return rubbish(rng, rng.IntN(2*window))
	}
	var data []byte
	for columns, size := 1+rng.IntN(9), rng.IntN(2*window); len(data) < size; {
		rows, _ := tidy(rng, 1+rng.IntN(50), columns)
		data = append(data, rows...)
	}
	for range rng.IntN(3) {
		data[rng.IntN(len(data))] = "\"\"\n,\rx"[rng.IntN(6)]
	}
	return data[:rng.IntN(len(data))]
}

// plainEnd is lastEnd in the simplest way: record by record.
func plainEnd(data []byte, limit int, comma byte) (last int) {
	for last < min(limit, len(data)) {
		end, complete := recordEnd(data, last, comma)
		if !complete || end > limit && last > 0 {
			break
		}
		last = end
	}
	return last
}

// TestLastEndBothWays: arithmetic on quotes, a search for them, and a walk from record to record must cut at the same places.
func TestLastEndBothWays(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	for range 1000 {
		data := ragged(rng)
		limit := rng.IntN(len(data) + 100)
		sameEnd(t, data, limit, ',')
		data = rubbish(rng, rng.IntN(40))
		sameEnd(t, data, rng.IntN(len(data)+3), ',')
	}
}

func sameEnd(t *testing.T, data []byte, limit int, comma byte) {
	t.Helper()
	end, lines, lone := lastEnd(data, limit, comma)
	want := plainEnd(data, limit, comma)
	if walked := walkedEnd(data, limit, comma); walked != want {
		t.Fatalf("by searching, the last record before %d ends at %d, want %d: %q", limit, walked, want, data)
	}
	for _, stretch := range []int{1, 40, 64, 300, 1 << 10} {
		if mixed := mixedEnd(data, limit, comma, stretch); mixed != want {
			t.Fatalf("in stretches of %d bytes, the last record before %d ends at %d, want %d: %q", stretch, limit, mixed, want, data)
		}
	}
	if end != want || lines != linesIn(data[:want]) {
		t.Fatalf("the last record before %d ends at %d behind %d lines, want %d behind %d: %q", limit, end, lines, want, linesIn(data[:want]),
			data)
	}
	if at := loneReturn(data[:end]); !lone && at >= 0 && at+1 < end {
		t.Fatalf("the carriage return at %d of %q is not seen", at, data[:end])
	}
}

// TestC1_CarriageReturnsAreSeenEverywhere: even at both ends of a block, where the next byte is in another block or does not exist.
func TestC1_CarriageReturnsAreSeenEverywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	for size := range 300 {
		data := bytes.Repeat([]byte("a,b\r\n"), size/5+2)[rng.IntN(5):][:size]
		for at := -1; at < size; at++ {
			p := bytes.Clone(data)
			if at >= 0 {
				p[at] = '\r'
			}
			first := loneReturn(p)
			if _, _, lone, _ := soundEnd(p, ','); lone != (first >= 0 && first+1 < size) {
				t.Fatalf("lone is %v for a first carriage return without line feed at %d of %d: %q", lone, first, size, p)
			}
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	plain := bytes.Repeat([]byte("2015-05-05 08:30:00,6217,2015-05-05 08:41:00,6204,660.0,1,2015\n"), window/63)[:window/64*64-64]
	x := new(index)
	for name, fill := range map[string]func([]uint16, []uint64, []byte, int, byte, *quotes) int{
		"this machine": indexBlocks, "portable": indexPortable,
	} {
		for text, p := range map[string][]byte{"": plain, ", quotes": bytes.ReplaceAll(plain, []byte("-05-"), []byte(`,"",`))} {
			b.Run(name+text, func(b *testing.B) {
				b.SetBytes(int64(len(p)))
				for b.Loop() {
					x.n = fill(x.pos[:], x.lines[:], p, 0, ',', &quotes{before: 1})
				}
			})
		}
	}
	p := plain
	b.Run("a search per field", func(b *testing.B) {
		b.SetBytes(int64(len(p)))
		for b.Loop() {
			for at := 0; at < len(p); x.n++ {
				i := bytes.IndexByte(p[at:], ',')
				if i < 0 {
					break
				}
				x.pos[x.n%window] = uint16(at + i)
				at += i + 1
			}
			x.n = 0
		}
	})
}
