package security

import (
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Errors that Verify returns, wrapped with what is wrong and what to do. The handshake of a socket fails with them.
var (
	// ErrUntrusted: the certificate is not from this cluster, or Posta did not make it.
	ErrUntrusted = errors.New("security: certificate is not trusted")
	// ErrExpired: the certificate or its CA is not valid now, by the clock of the process that checks it.
	ErrExpired = errors.New("security: certificate is not valid now")
	// ErrRevoked: the key is in the list of revoked keys.
	ErrRevoked = errors.New("security: key is revoked")
	// ErrNotAdmitted: the identity is proven, or the client's key well-formed, but it is not allowed here.
	ErrNotAdmitted = errors.New("security: not admitted")
)

// Clients are the keys of the topology's [clients], with the name and the role that each has there: submit, watch or operate.
type Clients map[Fingerprint]Identity

// Trust decides which identity a certificate proves. A Trust never changes: when other peers are to be trusted, another Trust is made.
type Trust struct {
	Cluster string
	CAs     []*x509.Certificate // one, or two while the CA is being replaced
	Clients Clients
	Revoked map[Fingerprint]bool
}

// maxCertificate bounds a certificate in bytes. Ours have about 500.
const maxCertificate = 4 << 10

// Verify returns the identity of the certificate that a peer has shown. TLS proves that the peer has the certificate's key.
func (t *Trust) Verify(raw [][]byte, now time.Time) (Identity, error) {
	if len(raw) != 1 || len(raw[0]) > maxCertificate {
		return Identity{}, fmt.Errorf("%w: %d certificates came; exactly one of at most %d bytes is needed, without its CA", ErrUntrusted,
			len(raw), maxCertificate)
	}
	c, err := x509.ParseCertificate(raw[0])
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrUntrusted, err)
	}
	id, err := t.identify(c)
	if err != nil {
		return Identity{}, err
	}
	key := FingerprintOf(c.PublicKey.(ed25519.PublicKey))
	if t.Revoked[key] {
		return Identity{}, fmt.Errorf(
			"%w: %s of %s; give it a new one with posta key init or posta key new, or take the line out of the file revoked", ErrRevoked, key, id)
	}
	if id.Role == Client {
		return t.client(c, id, key, now)
	}
	if err := t.chain(c, id, now); err != nil {
		return Identity{}, err
	}
	return id, nil
}

// identify reads what a certificate claims, which proves nothing yet.
func (t *Trust) identify(c *x509.Certificate) (Identity, error) {
	if _, ok := c.PublicKey.(ed25519.PublicKey); !ok {
		return Identity{}, fmt.Errorf("%w: its key is %s; Posta's are Ed25519; "+again, ErrUntrusted, c.PublicKeyAlgorithm)
	}
	name, err := nameOf(c)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrUntrusted, err)
	}
	cluster, id, err := parseURI(name)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrUntrusted, err)
	}
	if cluster != t.Cluster {
		return Identity{}, fmt.Errorf("%w: %s is of the cluster %s, this is %s; use the keys of this cluster", ErrUntrusted, id, cluster,
			t.Cluster)
	}
	if c.IsCA || c.KeyUsage&x509.KeyUsageDigitalSignature == 0 {
		return Identity{}, fmt.Errorf("%w: the certificate of %s is not for connections; "+again, ErrUntrusted, id)
	}
	for _, u := range usages(id.Role) {
		if !slices.Contains(c.ExtKeyUsage, u) {
			return Identity{}, fmt.Errorf(
				"%w: the certificate of %s lacks a usage (server and client for nodes and medics, client for clients); "+again, ErrUntrusted, id)
		}
	}
	return id, nil
}

// chain checks that a CA of ours has issued the certificate of a node or a medic.
func (t *Trust) chain(c *x509.Certificate, id Identity, now time.Time) error {
	roots := x509.NewCertPool()
	for _, ca := range t.CAs {
		key, ed := ca.PublicKey.(ed25519.PublicKey)
		if ed && !t.Revoked[FingerprintOf(key)] {
			roots.AddCert(ca)
		} else if c.CheckSignatureFrom(ca) == nil {
			return fmt.Errorf("%w: that of the CA that has issued the certificate of %s; replace the CA with posta key init --rotate-ca",
				ErrRevoked, id)
		}
	}
	// identify has checked the usages
	_, err := c.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	var invalid x509.CertificateInvalidError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return expired(id, invalid.Cert, now)
	}
	return fmt.Errorf("%w: %s is not issued by a CA in ca.pem: %w; issue its certificate again with posta key init, or add its CA to ca.pem",
		ErrUntrusted, id, err)
}

// client checks a certificate that is trusted only for its key. The client has signed it itself and has chosen its end.
func (t *Trust) client(c *x509.Certificate, id Identity, key Fingerprint, now time.Time) (Identity, error) {
	listed, ok := t.Clients[key]
	if !ok {
		return Identity{}, fmt.Errorf(
			"%w: the key %s, which claims to be %s, is not in [clients]; add it to the topology file with the role that it shall have",
			ErrNotAdmitted, key, id)
	}
	if listed.certified().Role != Client {
		return Identity{}, fmt.Errorf("%w: [clients] has the key of %s with the role %s; it must be submit, watch or operate", ErrNotAdmitted,
			id, listed.Role)
	}
	if err := c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature); err != nil {
		return Identity{}, fmt.Errorf("%w: the certificate of %s is not signed with its own key; make another one with posta key new",
			ErrUntrusted, listed)
	}
	if now.Before(c.NotBefore) || now.After(c.NotAfter) {
		return Identity{}, expired(listed, c, now)
	}
	return listed, nil
}

func expired(id Identity, c *x509.Certificate, now time.Time) error {
	what := "its certificate"
	if c.IsCA {
		what = "its CA"
	}
	return fmt.Errorf("%w: %s: %s is valid from %s to %s, and the clock here says %s; make a new one with posta key init or posta key new, "+
		"or set the clock",
		ErrExpired, id, what, c.NotBefore.UTC().Format(time.DateOnly), c.NotAfter.UTC().Format(time.DateTime), now.UTC().Format(time.DateTime))
}
