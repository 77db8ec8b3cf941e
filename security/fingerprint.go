package security

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
)

// Fingerprint is a public key as text: "ed25519:" and the key's 32 bytes in standard base64, padded. It is the key itself and no hash of
// it, because that is hardly longer.
type Fingerprint string

const keyType = "ed25519:"

// FingerprintOf returns the only text for a key: two fingerprints are equal exactly if their keys are.
func FingerprintOf(key ed25519.PublicKey) Fingerprint {
	return Fingerprint(keyType + base64.StdEncoding.EncodeToString(key))
}

// ParseFingerprint reads what FingerprintOf has written, and no other text for the same key.
func ParseFingerprint(s string) (Fingerprint, error) {
	text, ok := strings.CutPrefix(s, keyType)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) != ed25519.PublicKeySize || FingerprintOf(key) != Fingerprint(s) {
		return "", fmt.Errorf("security: %.80q is not a public key: write ed25519: and 44 characters of base64, as `posta key list` shows it", s)
	}
	return Fingerprint(s), nil
}
