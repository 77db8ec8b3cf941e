package csv

import "math/bits"

// quotes follows quoted fields through data, 64 bytes at a time, by arithmetic. A byte is inside of a quoted field if the
// number of quotes up to it is odd, and one product gives the sums, modulo 2, of all bits up to each (Langdale and Lemire,
// "Parsing Gigabytes of JSON per Second", 2019). This assumes that every quote opens or closes a field. So an opening quote
// must follow a separator, a line feed or, as the second of a doubled quote, a quote. A closing quote must be followed by one
// of these, or by a carriage return with a line feed. Anything else sets broken, and then walk.go has to walk the records.
// Files written by programs are never broken.
//
// For data that starts at a record's start, all fields are zero except before, which is 1.
type quotes struct {
	inside   uint64 // all ones if the last block ended inside of a quoted field
	before   uint64 // 1 if an opening quote may follow the last byte of that block
	closed   uint64 // 1 if this byte is a closing quote
	returned uint64 // 1 if this byte is a carriage return after a closing quote
	broken   uint64 // not 0 if a quote was in a wrong place
	seen     uint64 // not 0 if there was a quote
	lone     uint64 // not 0 if a carriage return had no line feed after it; only endsOfBlocks looks for this
	aside    uint64 // scratch memory of endsAVX2 and indexAVX2
}

// follow takes a bit for each separator, line feed and quote of the next block. It returns the separators and line feeds that
// are outside of quoted fields.
func (q *quotes) follow(p []byte, commas, feeds, marks uint64) (outerCommas, outerFeeds uint64) {
	structure := commas | feeds | marks
	if marks|q.inside|q.closed|q.returned == 0 {
		q.before = structure >> 63
		return commas, feeds
	}
	inside := sums(marks) ^ q.inside
	q.broken |= marks & inside &^ (structure<<1 | q.before)
	closing := marks &^ inside
	behind := closing<<1 | q.closed
	if other := behind &^ structure; other|q.returned != 0 {
		returns := equal64(p, '\r'*ones)
		q.broken |= other&^returns | (other&returns<<1|q.returned)&^feeds
		q.returned = other & returns >> 63
	}
	q.inside, q.before, q.closed = -(inside >> 63), structure>>63, closing>>63
	q.seen |= marks
	return commas &^ inside, feeds &^ inside
}

// sums has in each bit the sum, modulo 2, of the bits of w up to it.
func sums(w uint64) uint64 {
	for shift := 1; shift < 64; shift *= 2 {
		w ^= w << shift
	}
	return w
}

// padded returns the last bytes of data, fewer than a block, as a block. It fills the rest with line feeds, because a quote
// may close before the end of the data as before a line feed.
func padded(rest []byte) (block [64]byte) {
	for i := copy(block[:], rest); i < len(block); i++ {
		block[i] = '\n'
	}
	return block
}

// endsPortable follows the blocks of p, and finds the last block with line feeds outside of quoted fields. It returns these
// line feeds, the start of the block, and the number of all line feeds before it. mask is 0 if there is no such block. If p
// ends in a carriage return, the caller must check the byte after it.
func endsPortable(p []byte, comma byte, q *quotes) (mask uint64, at int, lines uint64) {
	for before, base := uint64(0), 0; len(p) >= 64; p, base = p[64:], base+64 {
		feeds := equal64(p, '\n'*ones)
		if returns := equal64(p, '\r'*ones); returns != 0 {
			behind := feeds >> 1
			if len(p) == 64 || p[64] == '\n' {
				behind |= 1 << 63
			}
			q.lone |= returns &^ behind
		}
		if _, outer := q.follow(p, equal64(p, uint64(comma)*ones), feeds, equal64(p, quote*ones)); outer != 0 {
			mask, at, lines = outer, base, before
		}
		before += uint64(bits.OnesCount64(feeds))
	}
	return mask, at, lines
}

// soundEnd returns the end of the last complete record in data, 0 if there is none, and how many line feeds come before it. ok is false
// if a quote is in a wrong place. data starts at a record's start. lone reports whether data has a carriage return without a line feed
// after it. Nearly no file has one, and the test costs only a comparison of bytes that are in registers anyway.
func soundEnd(data []byte, comma byte) (end int, lines uint64, lone, ok bool) {
	q := quotes{before: 1}
	whole := len(data) &^ 63
	mask, at, lines := endsOfBlocks(data[:whole], comma, &q)
	if mask != 0 {
		end = at + bits.Len64(mask)
	}
	if rest := data[whole:]; len(rest) > 0 {
		lone = whole > 0 && data[whole-1] == '\r' && rest[0] != '\n'
		block := padded(rest)
		mask, _, _ := endsOfBlocks(block[:], comma, &q)
		if mask &= 1<<uint(len(rest)) - 1; mask != 0 {
			end = whole + bits.Len64(mask)
		}
	}
	if end > 0 {
		lines += linesIn(data[at:end])
	}
	return end, lines, lone || q.lone != 0, q.broken == 0
}
