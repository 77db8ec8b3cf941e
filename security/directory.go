package security

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"posta.dev/posta/internal/owned"
)

const (
	keyBlock         = "PRIVATE KEY"
	certificateBlock = "CERTIFICATE"
)

// again says what to do about a key or certificate that cannot be used.
const again = "make it again with posta key init, or with posta key new for a client"

// WritePair writes key.pem and cert.pem into a directory, which it makes if it is not there and closes to others. The key comes first: a
// crash between the two leaves a pair that does not match, which ReadPair reports.
func WritePair(dir string, p Pair) error {
	if err := owned.Dir(dir); err != nil {
		return fmt.Errorf("security: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(p.Key.private())
	if err != nil {
		return fmt.Errorf("security: %w", err)
	}
	if err := writeFile(dir, keyFile, pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der})); err != nil {
		return err
	}
	return writeFile(dir, certificateFile, encodeCertificate(p.Certificate))
}

// ReadPair reads key.pem and cert.pem. It checks that they belong together, and that other users can neither read the key nor change the
// files.
func ReadPair(dir string) (Pair, error) {
	if err := safeDir(dir); err != nil {
		return Pair{}, err
	}
	text, err := readFile(dir, keyFile, 0o077)
	if err != nil {
		return Pair{}, err
	}
	key, err := parseKey(text)
	if err != nil {
		return Pair{}, fmt.Errorf("security: %s: %w", filepath.Join(dir, keyFile), err)
	}
	c, err := ReadCertificate(dir)
	if err != nil {
		return Pair{}, err
	}
	if !key.public().Equal(c.PublicKey) {
		return Pair{}, fmt.Errorf("security: %s is not the certificate of %s beside it; %s", filepath.Join(dir, certificateFile), keyFile, again)
	}
	return Pair{Key: key, Certificate: c.Raw}, nil
}

// ReadCertificate reads cert.pem alone. Its key may be elsewhere, or broken.
func ReadCertificate(dir string) (*x509.Certificate, error) {
	text, err := readFile(dir, certificateFile, 0o022)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, certificateFile)
	ders, err := blocks(text, certificateBlock, 1)
	if err != nil {
		return nil, fmt.Errorf("security: %s: %w", path, err)
	}
	c, err := x509.ParseCertificate(ders[0])
	if err != nil {
		return nil, fmt.Errorf("security: %s: %w", path, err)
	}
	return c, nil
}

// ReadCACertificate reads the certificate of a CA, whose key may be elsewhere.
func ReadCACertificate(dir string) (*x509.Certificate, error) {
	c, err := ReadCertificate(dir)
	if err != nil {
		return nil, err
	}
	if err := checkCA(c); err != nil {
		return nil, fmt.Errorf("security: %s: %w", filepath.Join(dir, certificateFile), err)
	}
	return c, nil
}

// WriteCA writes a CA into a directory of its own. The operator keeps that directory.
func WriteCA(dir string, ca *CA) error {
	return WritePair(dir, Pair{Key: ca.key, Certificate: ca.certificate.Raw})
}

// ReadCA reads what WriteCA has written.
func ReadCA(dir string) (*CA, error) {
	p, err := ReadPair(dir)
	if err != nil {
		return nil, err
	}
	ca, err := caOf(p)
	if err != nil {
		return nil, fmt.Errorf("security: %s: %w", filepath.Join(dir, certificateFile), err)
	}
	return ca, nil
}

// WriteCAs writes ca.pem: the one or two CAs that the process with this directory trusts.
func WriteCAs(dir string, cas ...*x509.Certificate) error {
	var text []byte
	for _, ca := range cas {
		text = append(text, encodeCertificate(ca.Raw)...)
	}
	return writeFile(dir, caFile, text)
}

// ReadCAs reads ca.pem.
func ReadCAs(dir string) ([]*x509.Certificate, error) {
	text, err := readFile(dir, caFile, 0o022)
	if err != nil {
		return nil, err
	}
	cas, err := parseCAs(text)
	if err != nil {
		return nil, fmt.Errorf("security: %s: %w", filepath.Join(dir, caFile), err)
	}
	return cas, nil
}

// Revoke adds a key to the file revoked. The process with this directory refuses the key from its next Reload on. comment says whose key it
// was.
func Revoke(dir string, key Fingerprint, comment string) error {
	if _, err := ParseFingerprint(string(key)); err != nil {
		return err
	}
	if strings.ContainsFunc(comment, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Errorf("security: the comment %.80q must be one line of ASCII", comment)
	}
	text, err := readFile(dir, revokedFile, 0o022)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if revoked, err := parseRevoked(text); err != nil || revoked[key] {
		return err
	}
	if comment != "" {
		comment = " # " + comment
	}
	return writeFile(dir, revokedFile, fmt.Appendf(endLine(text), "%s%s\n", key, comment))
}

func endLine(text []byte) []byte {
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	return text
}

// RevokeAll is Revoke for many keys at once, without comments. The file exists afterwards, even if it names no key: to Reload, an empty
// file means that nothing is revoked, and a missing file means that it was lost.
func RevokeAll(dir string, keys map[Fingerprint]bool) error {
	text, err := readFile(dir, revokedFile, 0o022)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	missing := err != nil
	there, err := parseRevoked(text)
	if err != nil {
		return fmt.Errorf("security: %s: %w", filepath.Join(dir, revokedFile), err)
	}
	more := false
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !there[key] {
			text, more = fmt.Appendf(endLine(text), "%s\n", key), true
		}
	}
	if !more && !missing {
		return nil
	}
	return writeFile(dir, revokedFile, text)
}

// ReadRevoked reads the file revoked. A missing file gives nil and revokes nothing. If some lines cannot be read, it returns the keys of
// the other lines with the error.
func ReadRevoked(dir string) (map[Fingerprint]bool, error) {
	text, err := readFile(dir, revokedFile, 0o022)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	revoked, err := parseRevoked(text)
	if err != nil {
		return revoked, fmt.Errorf("security: %s: %w", filepath.Join(dir, revokedFile), err)
	}
	return revoked, nil
}

// parseRevoked reads one fingerprint in each line; # begins a comment. A line that cannot be read is an error, because to ignore it could
// let a revoked key in. The lines after it are still read.
func parseRevoked(text []byte) (map[Fingerprint]bool, error) {
	revoked := map[Fingerprint]bool{}
	var first error
	number := 0
	for line := range bytes.Lines(text) {
		number++
		word, _, _ := bytes.Cut(line, []byte("#"))
		word = bytes.TrimSpace(word)
		if len(word) == 0 {
			continue
		}
		key, err := ParseFingerprint(string(word))
		if err == nil {
			revoked[key] = true
		} else if first == nil {
			first = fmt.Errorf("line %d: %w", number, err)
		}
	}
	return revoked, first
}

func parseKey(text []byte) (Key, error) {
	ders, err := blocks(text, keyBlock, 1)
	if err != nil {
		return Key{}, err
	}
	k, err := x509.ParsePKCS8PrivateKey(ders[0])
	if err != nil {
		return Key{}, errors.New("the key cannot be read; " + again) // x509's error could show a part of the key
	}
	private, ok := k.(ed25519.PrivateKey)
	if !ok {
		return Key{}, errors.New("it is not an Ed25519 key; " + again)
	}
	return keyOf(private), nil
}

func parseCAs(text []byte) ([]*x509.Certificate, error) {
	ders, err := blocks(text, certificateBlock, 2)
	if err != nil {
		return nil, err
	}
	var cas []*x509.Certificate
	for _, der := range ders {
		ca, err := parseCA(der)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(cas, ca.Equal) {
			return nil, errors.New("the same CA stands there twice")
		}
		cas = append(cas, ca)
	}
	return cas, nil
}

// blocks reads 1 to most PEM blocks of a kind. Text between them is a comment, as in files of other programs.
func blocks(text []byte, kind string, most int) (ders [][]byte, err error) {
	for {
		b, rest := pem.Decode(text)
		switch {
		case b == nil && bytes.Contains(text, []byte("-----BEGIN")):
			return nil, fmt.Errorf("a block after number %d cannot be read", len(ders))
		case b == nil && len(ders) == 0:
			return nil, fmt.Errorf("it has no block %s", kind)
		case b == nil:
			return ders, nil
		case b.Type != kind:
			return nil, fmt.Errorf("it has a block %.40q; only %s may be there", b.Type, kind)
		case len(ders) == most:
			return nil, fmt.Errorf("it has more than %d blocks", most)
		}
		ders = append(ders, b.Bytes)
		text = rest
	}
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: der})
}
