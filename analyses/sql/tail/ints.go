package tail

import (
	"hash/maphash"

	"posta.dev/posta/analyses/sql/eval"
)

// intIndex numbers distinct integers in the order in which they come. It does what index does for keys of all kinds, but
// builds no key bytes. It uses open addressing and is at most half full.
type intIndex struct {
	x     *Executor
	keys  []int64
	ids   []int32 // the number of the key plus 1; 0: the place is free
	n     int32
	seed  maphash.Seed // random, so that the author of a file cannot choose keys that collide
	bytes int64
}

const (
	leastPlaces = 1 << 6
	placeBytes  = 12
)

func (x *Executor) newIntIndex() (*intIndex, error) {
	ix := &intIndex{x: x, seed: maphash.MakeSeed()}
	return ix, ix.grow(leastPlaces)
}

// place returns the place of a key, or the free place for it.
func (ix *intIndex) place(key int64) int {
	mask := len(ix.keys) - 1
	at := int(maphash.Comparable(ix.seed, key)) & mask
	for ix.ids[at] != 0 && ix.keys[at] != key {
		at = (at + 1) & mask
	}
	return at
}

// find returns the number of a key, -1 if it has none.
func (ix *intIndex) find(key int64) int32 { return ix.ids[ix.place(key)] - 1 }

// id returns the number of a key, and whether it is new.
func (ix *intIndex) id(key int64) (id int32, fresh bool, err error) {
	at := ix.place(key)
	if ix.ids[at] != 0 {
		return ix.ids[at] - 1, false, nil
	}
	ix.n++
	ix.keys[at], ix.ids[at] = key, ix.n
	if int(ix.n) > len(ix.keys)/2 {
		err = ix.grow(2 * len(ix.keys))
	}
	return ix.n - 1, true, err
}

func (ix *intIndex) grow(places int) error {
	more := int64(places-len(ix.keys)) * placeBytes
	ix.bytes += more
	if err := ix.x.hold(more); err != nil {
		return err
	}
	keys, ids := ix.keys, ix.ids
	ix.keys, ix.ids = make([]int64, places), make([]int32, places)
	for i, id := range ids {
		if id != 0 {
			at := ix.place(keys[i])
			ix.keys[at], ix.ids[at] = keys[i], id
		}
	}
	return nil
}

func (ix *intIndex) release() { ix.x.held -= ix.bytes }

// fewTexts bounds the distinct texts of a column with codes.
const fewTexts = 1 << 10

// withCodes gives codes to the rows of a column of texts, if it has few distinct texts.
func withCodes(v *eval.Vector) {
	known := map[string]uint32{}
	codes := make([]uint32, len(v.Texts))
	for i, t := range v.Texts {
		code, ok := known[t]
		if !ok {
			if len(known) == fewTexts {
				return
			}
			code = uint32(len(known))
			known[t] = code
		}
		codes[i] = code
	}
	v.Codes, v.Entries = codes, max(1, len(known))
}
