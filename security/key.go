package security

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
)

// Key is a private key. Printing, logging or marshalling it, or anything that contains it, shows at most its fingerprint: the key is behind
// a function, into which neither fmt nor reflection can look (S6, TestS6_AKeyIsNeverPrinted).
type Key struct {
	private func() ed25519.PrivateKey
}

// NewKey makes a key from the system's randomness.
func NewKey() (Key, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("security: make a key: %w", err)
	}
	return keyOf(private), nil
}

func keyOf(private ed25519.PrivateKey) Key {
	return Key{private: func() ed25519.PrivateKey { return private }}
}

// Public implements crypto.Signer.
func (k Key) Public() crypto.PublicKey { return k.public() }

func (k Key) public() ed25519.PublicKey {
	return k.private().Public().(ed25519.PublicKey)
}

// Sign implements crypto.Signer.
func (k Key) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	return k.private().Sign(random, message, opts)
}

// Fingerprint returns the public key, which is not a secret.
func (k Key) Fingerprint() Fingerprint {
	if k.private == nil {
		return "no key"
	}
	return FingerprintOf(k.public())
}

// String implements fmt.Stringer.
func (k Key) String() string { return fmt.Sprintf("private key of %s", k.Fingerprint()) }

// GoString implements fmt.GoStringer, for %#v.
func (k Key) GoString() string { return k.String() }

// LogValue implements slog.LogValuer.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText implements encoding.TextMarshaler, which encoding/json uses too.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
