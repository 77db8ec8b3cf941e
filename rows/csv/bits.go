package csv

// Bits is a set of fields of a row, by their index in [Scanner.Fields]. A nil *Bits is empty.
type Bits []uint64

// Has reports whether field i is in the set.
func (b *Bits) Has(i int) bool { return b != nil && (*b)[i>>6]&(1<<(i&63)) != 0 }

// Add puts field i into the set.
func (b *Bits) Add(i int) { (*b)[i>>6] |= 1 << (i & 63) }

// Reset empties the set, and makes room for n fields.
func (b *Bits) Reset(n int) {
	if words := (n + 63) / 64; words <= cap(*b) {
		*b = (*b)[:words]
		clear(*b)
	} else {
		*b = make(Bits, words)
	}
}
