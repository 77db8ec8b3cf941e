package session

import "slices"

// Openers are the token hashes of all clients that have opened a session, oldest first: the one that began it, and each that took it over (R17).
// The last one is the present opener, and their number is the opener epoch. A takeover appends one hash and changes no other. So of two lists of
// one session, the shorter is always the beginning of the longer.
type Openers []TokenHash

// MaxOpeners bounds how often a session can be taken over: the list travels in the session's announcement.
const MaxOpeners = 256

// Now returns the present opener, whose token counts, and the zero hash if no opener is known.
func (o Openers) Now() (h TokenHash) {
	if len(o) > 0 {
		h = o[len(o)-1]
	}
	return h
}

// Founder returns the client that began the session, and the zero hash if no opener is known. The result is the same at every node, whatever
// takeovers it has heard of.
func (o Openers) Founder() (h TokenHash) {
	if len(o) > 0 {
		h = o[0]
	}
	return h
}

// Superseded reports whether a client has been an opener and another one took the session over from it.
func (o Openers) Superseded(h TokenHash) bool {
	return len(o) > 0 && h != o.Now() && slices.Contains(o, h)
}

// Begin reports whether o is the beginning of p, or all of it: p has heard of every takeover that o has.
func (o Openers) Begin(p Openers) bool { return len(o) <= len(p) && slices.Equal(o, p[:len(o)]) }

// Append appends the hashes one after the other.
func (o Openers) Append(b []byte) []byte {
	for i := range o {
		b = append(b, o[i][:]...)
	}
	return b
}

// ReadOpeners reads what Append wrote; ok is false if b is something else.
func ReadOpeners(b []byte) (o Openers, ok bool) {
	const size = len(TokenHash{})
	if len(b)%size != 0 || len(b) > MaxOpeners*size {
		return nil, false
	}
	for ; len(b) > 0; b = b[size:] {
		h := TokenHash(b)
		if h == (TokenHash{}) || slices.Contains(o, h) {
			return nil, false
		}
		o = append(o, h)
	}
	return o, true
}
