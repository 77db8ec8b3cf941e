package exact

import "math/bits"

const (
	wideWords = 34
	wideExp   = -1074 // exponent of the lowest bit, which is the smallest float64
)

// wide is a two's complement number of 2176 bits in units of 2^-1074, lowest word first. The largest float64 ends at bit
// 2098, which leaves 77 bits for carries. A sum that exceeds even these becomes NaN; only a forged wire form can cause this.
type wide struct {
	words [wideWords]uint64
	nan   bool
}

// addScaled adds ±m·2^(shift-1074), m < 2^53.
func (w *wide) addScaled(m uint64, shift uint, negative bool) {
	var t [wideWords]uint64
	i, b := shift>>6, shift&63
	t[i] = m << b
	if b != 0 {
		t[i+1] = m >> (64 - b)
	}
	if negative {
		negateWords(t[:])
	}
	w.addWords(&t)
}

// addNear adds a number in the form of Sum.near.
func (w *wide) addNear(near *[3]uint64) {
	const shift = -nearPoint - wideExp
	const i, b = shift >> 6, shift & 63
	var t [wideWords]uint64
	sign := uint64(int64(near[2]) >> 63)
	t[i] = near[0] << b
	t[i+1] = near[1]<<b | near[0]>>(64-b)
	t[i+2] = near[2]<<b | near[1]>>(64-b)
	t[i+3] = sign<<b | near[2]>>(64-b)
	for k := i + 4; k < wideWords; k++ {
		t[k] = sign
	}
	w.addWords(&t)
}

func (w *wide) add(o *wide) {
	w.nan = w.nan || o.nan
	t := o.words
	w.addWords(&t)
}

func (w *wide) addWords(t *[wideWords]uint64) {
	before, c := w.words[wideWords-1], uint64(0)
	for i := range w.words {
		w.words[i], c = bits.Add64(w.words[i], t[i], c)
	}
	after := w.words[wideWords-1]
	if int64((before^after)&(t[wideWords-1]^after)) < 0 {
		w.nan = true
	}
}

func negateWords(t []uint64) {
	var c uint64
	for i := range t {
		t[i], c = bits.Sub64(0, t[i], c)
	}
}
