package security

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// today is when the certificates of tests are made.
var today = time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newCA(t testing.TB) *CA { return must[*CA](t)(NewCA("posta", today)) }

func issued(t testing.TB, ca *CA, role Role, name string) Pair {
	t.Helper()
	return must[Pair](t)(ca.Issue(Identity{role, name}, today))
}

// cluster is a directory of keys for a process, and what else of its cluster a test needs.
type cluster struct {
	ca    *CA
	root  string
	alice Pair // a client that is listed
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	return &cluster{ca: must[*CA](t)(NewCA("posta", time.Now())), root: t.TempDir(),
		alice: must[Pair](t)(NewClient("posta", "alice", time.Now()))}
}

func (c *cluster) dir(id Identity) string { return filepath.Join(c.root, string(id.Role)+"-"+id.Name) }

// write makes the key directory of a process.
func (c *cluster) write(t testing.TB, id Identity, p Pair) string {
	t.Helper()
	noError(t, WritePair(c.dir(id), p))
	noError(t, WriteCAs(c.dir(id), c.ca.Certificate()))
	return c.dir(id)
}

func (c *cluster) clients() Clients {
	return Clients{c.alice.Key.Fingerprint(): {Submit, "alice"}}
}

// keys are those of a process with a certificate of the CA, or of alice.
func (c *cluster) keys(t testing.TB, role Role, name string) *Keys {
	t.Helper()
	id := Identity{role, name}
	p := c.alice
	if role != Client {
		p = must[Pair](t)(c.ca.Issue(id, time.Now()))
	}
	return must[*Keys](t)(Load(c.write(t, id, p), "posta", c.clients()))
}

// forge makes a certificate with whatever a test changes of a good one. Without a CA it signs itself.
func forge(t testing.TB, ca *CA, uri string, change func(c *x509.Certificate)) Pair {
	t.Helper()
	key := must[Key](t)(NewKey())
	return Pair{Key: key, Certificate: forgeFor(t, key, ca, uri, change)}
}

func forgeFor(t testing.TB, key Key, ca *CA, uri string, change func(c *x509.Certificate)) []byte {
	t.Helper()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "forged"}, NotBefore: begin, NotAfter: today.Add(CertificateLife),
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: usages(Node),
		URIs: []*url.URL{must[*url.URL](t)(url.Parse(uri))},
	}
	if change != nil {
		change(c)
	}
	parent, signer := c, key
	if ca != nil {
		parent, signer = ca.certificate, ca.key
	}
	return must[[]byte](t)(x509.CreateCertificate(rand.Reader, c, parent, key.public(), signer))
}

// anyone admits every peer that has proven its name.
func anyone(Identity) error { return nil }
