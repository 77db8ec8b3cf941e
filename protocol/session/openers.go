package session

import "slices"

// Openers are the token hashes of all clients that have opened a session, oldest first: the client that began it, and each that took it
// over (R17). The last one is the present opener, and their number is the opener epoch. A takeover appends one hash and changes no other.
// So of two lists of the same session, the shorter one is always the beginning of the longer one.
type Openers []TokenHash

// MaxOpeners bounds how often a session can be taken over: the list travels in the session's announcement.
const MaxOpeners = 256

// Now returns the present opener, whose token is valid, or the zero hash if no opener is known.
func (o Openers) Now() (h TokenHash) {
	if len(o) > 0 {
		h = o[len(o)-1]
	}
	return h
}

// Founder returns the client that began the session, or the zero hash if no opener is known. Every node returns the same client, whatever
// takeovers it knows of.
func (o Openers) Founder() (h TokenHash) {
	if len(o) > 0 {
		h = o[0]
	}
	return h
}

// Superseded reports whether a client was an opener from which another one has taken over the session.
func (o Openers) Superseded(h TokenHash) bool {
	return len(o) > 0 && h != o.Now() && slices.Contains(o, h)
}

// Begin reports whether o is the beginning of p, or all of it: p includes every takeover in o.
func (o Openers) Begin(p Openers) bool { return len(o) <= len(p) && slices.Equal(o, p[:len(o)]) }

// Append appends the hashes one after the other.
func (o Openers) Append(b []byte) []byte {
	for i := range o {
		b = append(b, o[i][:]...)
	}
	return b
}

// ReadOpeners reads what Append wrote. ok is false for other bytes.
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
