package session

import (
	"crypto/rand"
	"crypto/sha256"
)

// Token proves that a client opened a session: 128 random bits that no other client knows (R17). The zero token means no token.
type Token [16]byte

// TokenHash is the hash of a token that the cluster keeps. The zero hash belongs to no token.
type TokenHash [16]byte

// NewToken returns a random token.
func NewToken() (t Token) {
	// Since Go 1.24, crypto/rand.Read never fails: it ends the process if the system has no randomness.
	_, _ = rand.Read(t[:])
	return t
}

// Hash returns the first half of the token's SHA-256, and the zero hash for no token.
func (t Token) Hash() (h TokenHash) {
	if t != (Token{}) {
		sum := sha256.Sum256(t[:])
		copy(h[:], sum[:])
	}
	return h
}
