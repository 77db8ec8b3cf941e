package columnar

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// FuzzBlocks: a block of rows makes the same chunk as each of its rows alone, whatever came before.
func FuzzBlocks(f *testing.F) {
	for seed := range uint64(2000) {
		f.Add(seed)
	}
	words := &Texts{}
	var all []byte
	for i := range 50 {
		words.From = append(words.From, uint32(len(all)))
		all = append(all, strings.Repeat("w", i%7)...)
		words.To = append(words.To, uint32(len(all)))
	}
	words.Bytes = all
	kinds := []Kind{Int, Float, Micros, Days, Nanos, Bool, Decimal(2)}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		blocks, rows := NewWriter(1), NewWriter(1)
		b, a := blocks.Column(0), rows.Column(0)
		b.Dictionary(50)
		a.Dictionary(50)
		mode, kind := r.IntN(3), kinds[r.IntN(len(kinds))]
		for range 1 + r.IntN(5) {
			if r.IntN(10) == 0 {
				mode, kind = r.IntN(3), kinds[r.IntN(len(kinds))]
			}
			n := 1 + r.IntN(300)
			valid, there := drawBits(r, n)
			block, shift := make([]int64, there), r.IntN(64)
			for i := range block {
				if block[i] = r.Int64() >> shift; kind == Bool && r.IntN(300) > 0 {
					block[i] &= 1
				}
			}
			codes, texts := make([]uint32, there), &Texts{Bytes: all}
			for i := range codes {
				codes[i] = uint32(r.IntN(50))
				from := r.IntN(len(all))
				texts.From, texts.To = append(texts.From, uint32(from)), append(texts.To, uint32(from+r.IntN(len(all)-from)))
			}
			switch {
			case there == 0 && r.IntN(2) == 0:
				b.AppendNulls(n)
			case mode == 0:
				b.AppendInts(kind, block, valid, n)
			case mode == 1:
				b.AppendTexts(texts, valid, n)
			default:
				b.AppendWords(words, codes, valid, n)
			}
			i := 0
			for row := range n {
				if valid != nil && valid[row/64]>>(row%64)&1 == 0 {
					a.AppendNull()
					continue
				}
				switch mode {
				case 0:
					a.AppendInt(kind, block[i])
				case 1:
					a.AppendText(all[texts.From[i]:texts.To[i]])
				default:
					a.AppendWord(codes[i], all[words.From[codes[i]]:words.To[codes[i]]])
				}
				i++
			}
			if r.IntN(5) == 0 && blocks.Rows() > 1 {
				blocks.MoveLast(NewWriter(1))
				rows.MoveLast(NewWriter(1))
			}
		}
		got, want := blocks.Append(nil), rows.Append(nil)
		if !bytes.Equal(got, want) || blocks.Size() != rows.Size() {
			t.Fatalf("a chunk of %d bytes and not of %d:\n%x\n%x", len(got), len(want), got, want)
		}
	})
}

// drawBits returns the bits of n rows, most or few of which are set, nil if all are, and how many are set.
func drawBits(r *rand.Rand, n int) (valid []uint64, there int) {
	often := r.IntN(3)
	if often == 2 {
		return nil, n
	}
	valid = make([]uint64, (n+63)/64)
	for row := range n {
		if (r.IntN(20) == 0) == (often == 1) && row/64%3 > 0 || row/64%3 == 0 {
			valid[row/64] |= 1 << (row % 64)
			there++
		}
	}
	if r.IntN(8) == 0 {
		clear(valid)
		there = 0
	}
	return valid, there
}
