package security

import (
	"crypto"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"fmt"
)

// Statement is a text that a process has signed with its key, for a receiver that has no TLS connection to it.
type Statement struct {
	Purpose     string `json:"purpose"`
	Text        []byte `json:"text"`
	Certificate []byte `json:"certificate"`
	Signature   []byte `json:"signature"`
}

// maxStatement bounds an encoded statement in bytes: a text of 1 KiB, a certificate and a signature, all of them in base64.
const maxStatement = 8 << 10

// signed returns the bytes that are signed. They begin with a text with which no certificate and no message of TLS begins. Purpose has no
// zero byte, so no two statements of different purposes have the same bytes.
func (s *Statement) signed(cluster string) []byte {
	return append([]byte("posta statement 1\x00"+cluster+"\x00"+s.Purpose+"\x00"), s.Text...)
}

// Sign returns a statement of this process. Purpose is a constant of the program, without zero bytes. It says what the text is for, so that
// no other part of the program accepts the statement for another purpose.
func (k *Keys) Sign(purpose string, text []byte) ([]byte, error) {
	l := k.loaded.Load()
	s := Statement{Purpose: purpose, Text: text, Certificate: l.certificate.Certificate[0]}
	var err error
	if s.Signature, err = l.certificate.PrivateKey.(crypto.Signer).Sign(nil, s.signed(k.cluster), crypto.Hash(0)); err != nil {
		return nil, fmt.Errorf("security: sign: %w", err)
	}
	return json.Marshal(s)
}

// Verify returns the text of a statement, its maker, and the maker's public key. The maker must be trusted now, like the peer of a
// connection.
func (k *Keys) Verify(purpose string, statement []byte) (text []byte, by Identity, key Fingerprint, err error) {
	var s Statement
	if len(statement) > maxStatement {
		return nil, by, "", fmt.Errorf("%w: the statement has %d bytes, and %d are the most", ErrUntrusted, len(statement), maxStatement)
	}
	if err := json.Unmarshal(statement, &s); err != nil || s.Purpose != purpose {
		return nil, by, "", fmt.Errorf("%w: this is no statement for the purpose %q", ErrUntrusted, purpose)
	}
	if by, err = k.loaded.Load().trust.Verify([][]byte{s.Certificate}, k.now()); err != nil {
		return nil, Identity{}, "", err
	}
	c, err := x509.ParseCertificate(s.Certificate)
	if err != nil {
		return nil, Identity{}, "", fmt.Errorf("%w: %w", ErrUntrusted, err)
	}
	public := c.PublicKey.(ed25519.PublicKey) // Trust.Verify has checked the type
	if !ed25519.Verify(public, s.signed(k.cluster), s.Signature) {
		return nil, Identity{}, "", fmt.Errorf("%w: the statement is not signed with the key of %s", ErrUntrusted, by)
	}
	return s.Text, by, FingerprintOf(public), nil
}

// ClientOf returns the name and role that the topology gives to a client's key now, and false if it is not listed or revoked.
func (k *Keys) ClientOf(key Fingerprint) (Identity, bool) {
	trust := k.loaded.Load().trust
	id, listed := trust.Clients[key]
	return id, listed && !trust.Revoked[key]
}
