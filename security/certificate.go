package security

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"time"
)

const (
	// caLife is how long a cluster's CA is valid, from when it is made.
	caLife = 10 * 365 * 24 * time.Hour
	// CertificateLife is how long a certificate is valid that a CA issues or a client signs itself. No certificate outlives its CA.
	CertificateLife = 2 * 365 * 24 * time.Hour
	// ExpiryWarning is how long before the end of a certificate its owner is warned.
	ExpiryWarning = 30 * 24 * time.Hour
)

// begin is NotBefore of all certificates. A process whose clock is behind must not be locked out (M10); only the list of revoked keys ends
// a key before its time.
var begin = time.Unix(0, 0).UTC()

// Pair is a private key and the certificate of its public key, in DER.
type Pair struct {
	Key         Key
	Certificate []byte
}

// CA signs the certificates of one cluster's nodes and medics.
type CA struct {
	cluster     string
	key         Key
	certificate *x509.Certificate
}

// NewCA makes a CA. A cluster may trust two at a time, so their subjects have serial numbers.
func NewCA(cluster string, now time.Time) (*CA, error) {
	if err := ValidName(cluster); err != nil {
		return nil, err
	}
	key, err := NewKey()
	if err != nil {
		return nil, err
	}
	t, err := template(pkix.Name{CommonName: cluster, Organization: []string{"Posta"}}, now.Add(caLife))
	if err != nil {
		return nil, err
	}
	t.Subject.SerialNumber = t.SerialNumber.Text(16)
	t.IsCA, t.MaxPathLenZero, t.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.public(), key)
	if err != nil {
		return nil, fmt.Errorf("security: make a CA: %w", err)
	}
	return caOf(Pair{Key: key, Certificate: der})
}

// caOf makes a CA from its key and its certificate, which names the cluster.
func caOf(p Pair) (*CA, error) {
	c, err := parseCA(p.Certificate)
	if err != nil {
		return nil, err
	}
	return &CA{cluster: c.Subject.CommonName, key: p.Key, certificate: c}, nil
}

func parseCA(der []byte) (*x509.Certificate, error) {
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return c, checkCA(c)
}

func checkCA(c *x509.Certificate) error {
	if _, ok := c.PublicKey.(ed25519.PublicKey); !ok || !c.IsCA || !c.BasicConstraintsValid || c.KeyUsage&x509.KeyUsageCertSign == 0 {
		return errors.New("the certificate is not that of a CA with an Ed25519 key")
	}
	return ValidName(c.Subject.CommonName)
}

// Cluster is the name of the cluster that the CA is for.
func (ca *CA) Cluster() string { return ca.cluster }

// Certificate is the certificate that other processes trust.
func (ca *CA) Certificate() *x509.Certificate { return ca.certificate }

// Issue makes a key and a certificate for a node or a medic.
func (ca *CA) Issue(id Identity, now time.Time) (Pair, error) {
	if id.Role != Node && id.Role != Medic {
		return Pair{}, fmt.Errorf("security: a CA issues certificates for nodes and medics; a client like %s makes its own with posta key new",
			id)
	}
	end := now.Add(CertificateLife)
	if ca.certificate.NotAfter.Before(end) {
		end = ca.certificate.NotAfter
	}
	return issue(id, ca.cluster, end, ca)
}

// NewClient makes a key with a certificate that it signs itself. The name in it is only for people: the line in [clients] decides.
func NewClient(cluster, name string, now time.Time) (Pair, error) {
	return issue(Identity{Role: Client, Name: name}, cluster, now.Add(CertificateLife), nil)
}

// issue makes a key and a certificate that ca signs. If ca is nil, the key signs its own certificate.
func issue(id Identity, cluster string, end time.Time, ca *CA) (Pair, error) {
	if err := errors.Join(ValidName(cluster), ValidName(id.Name)); err != nil {
		return Pair{}, err
	}
	key, err := NewKey()
	if err != nil {
		return Pair{}, err
	}
	t, err := template(pkix.Name{CommonName: id.String()}, end)
	if err != nil {
		return Pair{}, err
	}
	u, err := url.Parse(id.uri(cluster))
	if err != nil {
		return Pair{}, fmt.Errorf("security: the name of %s: %w", id, err)
	}
	t.URIs = []*url.URL{u}
	t.KeyUsage, t.ExtKeyUsage = x509.KeyUsageDigitalSignature, usages(id.Role)
	parent, signer := t, key
	if ca != nil {
		parent, signer = ca.certificate, ca.key
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, key.public(), signer)
	if err != nil {
		return Pair{}, fmt.Errorf("security: make a certificate for %s: %w", id, err)
	}
	return Pair{Key: key, Certificate: der}, nil
}

// usages returns the key usages that a certificate must have: nodes and medics accept and dial, clients only dial.
func usages(r Role) []x509.ExtKeyUsage {
	if r == Node || r == Medic {
		return []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	return []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
}

func template(subject pkix.Name, end time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("security: make a serial number: %w", err)
	}
	return &x509.Certificate{SerialNumber: serial, Subject: subject, NotBefore: begin, NotAfter: end.UTC(), BasicConstraintsValid: true}, nil
}

var subjectAltName = asn1.ObjectIdentifier{2, 5, 29, 17}

// nameOf returns the only name of a certificate, byte for byte. It does not use the URIs of package x509, because those are parsed and
// written again, which hides an empty fragment, for instance. A certificate with a name of another kind beside the URI is refused.
func nameOf(c *x509.Certificate) (string, error) {
	const uriTag = 6
	for _, e := range c.Extensions {
		if !e.Id.Equal(subjectAltName) {
			continue
		}
		var names []asn1.RawValue
		if rest, err := asn1.Unmarshal(e.Value, &names); err != nil || len(rest) > 0 {
			return "", errors.New("its names cannot be read")
		}
		if len(names) == 1 && names[0].Class == asn1.ClassContextSpecific && names[0].Tag == uriTag && !names[0].IsCompound {
			return string(names[0].Bytes), nil
		}
		return "", fmt.Errorf("it has %d names, or one that is not a URI; exactly one posta://CLUSTER/ROLE/NAME is needed", len(names))
	}
	return "", errors.New("it has no name posta://CLUSTER/ROLE/NAME")
}
