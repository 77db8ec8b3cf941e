package security

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// seeds adds the files of testdata/seeds that end in the given way.
func seeds(f *testing.F, suffix string) {
	f.Helper()
	names, err := filepath.Glob("testdata/seeds/*" + suffix)
	noError(f, err)
	if len(names) == 0 {
		f.Fatalf("no seeds %s", suffix)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		noError(f, err)
		f.Add(b)
	}
}

// FuzzVerify: a certificate is trusted only if it is one that was made, down to each of its bits.
func FuzzVerify(f *testing.F) {
	seeds(f, ".der")
	ca := newCA(f)
	alice := must[Pair](f)(NewClient("posta", "alice", today))
	node := issued(f, ca, Node, "joiner-1")
	f.Add(node.Certificate)
	f.Add(alice.Certificate)
	f.Add(ca.certificate.Raw)
	f.Add(forge(f, nil, "posta://posta/node/joiner-1", nil).Certificate)
	trust := &Trust{Cluster: "posta", CAs: []*x509.Certificate{ca.Certificate()}, Clients: Clients{alice.Key.Fingerprint(): {Submit, "alice"}}}
	f.Fuzz(func(t *testing.T, der []byte) {
		id, err := trust.Verify([][]byte{der}, today)
		switch {
		case err != nil && id != (Identity{}):
			t.Errorf("%v is named although it is refused", id)
		case err == nil && !bytes.Equal(der, node.Certificate) && !bytes.Equal(der, alice.Certificate):
			t.Errorf("%v is trusted", id)
		}
	})
}

// FuzzIssued: a certificate that our CA has signed is trusted if all of its fields are as they must be, and never otherwise.
func FuzzIssued(f *testing.F) {
	ca := newCA(f)
	key := must[Key](f)(NewKey())
	trust := &Trust{Cluster: "posta", CAs: []*x509.Certificate{ca.Certificate()}}
	const connections, both = uint16(x509.KeyUsageDigitalSignature), uint8(3)
	f.Add("node/joiner-1", "", connections, both, false, int64(-1), int64(1))
	f.Add("medic/medic-1", "", connections, both, false, int64(-1), int64(1))
	f.Add("client/alice", "", connections, both, false, int64(-1), int64(1))
	f.Add("node/joiner-1", "localhost", connections, both, false, int64(-1), int64(1))
	f.Add("node/joiner-1", "", uint16(x509.KeyUsageCertSign), both, true, int64(-1), int64(1))
	f.Add("node/joiner-1", "", connections, uint8(1), false, int64(-1), int64(1))
	f.Add("node/joiner-1", "", connections, both, false, int64(1), int64(2))
	f.Add("node/joiner-1", "", connections, both, false, int64(-2), int64(-1))
	f.Add("node/joiner-1?", "", connections, both, false, int64(-1), int64(1))
	f.Add("node/%6Aoiner-1", "", connections, both, false, int64(-1), int64(1))
	f.Fuzz(func(t *testing.T, who, host string, usage uint16, extended uint8, isCA bool, from, to int64) {
		const year = 365 * 24 * 60 * 60
		c := &x509.Certificate{
			SerialNumber: big.NewInt(7), NotBefore: today.Add(time.Duration(from%year) * time.Second),
			NotAfter:              today.Add(time.Duration(to%year) * time.Second),
			BasicConstraintsValid: true, IsCA: isCA, KeyUsage: x509.KeyUsage(usage & 0x1ff),
			URIs: []*url.URL{{Opaque: "//posta/" + who, Scheme: "posta"}},
		}
		for bit, u := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageCodeSigning} {
			if extended&(1<<bit) != 0 {
				c.ExtKeyUsage = append(c.ExtKeyUsage, u)
			}
		}
		if host != "" {
			c.DNSNames = []string{host}
		}
		der, err := x509.CreateCertificate(rand.Reader, c, ca.certificate, key.public(), ca.key)
		if err != nil {
			return // it cannot be made
		}
		role, name, _ := strings.Cut(who, "/")
		right := (role == string(Node) || role == string(Medic)) && nameForm().MatchString(name) && host == "" &&
			usage&connections != 0 && extended&both == both && !isCA && from%year <= 0 && to%year >= 0
		id, err := trust.Verify([][]byte{der}, today)
		if (err == nil) != right {
			t.Errorf("%+v: %v, %v", c, id, err)
		}
		if err == nil && id.String() != who || err != nil && id != (Identity{}) {
			t.Errorf("%q is taken for %v, %v", who, id, err)
		}
	})
}

// FuzzURI: what is taken for a name is written back as it was.
func FuzzURI(f *testing.F) {
	for _, s := range []string{"posta://posta/node/joiner-1", "posta://a/client/b", "posta://posta/submit/alice", "posta://p@posta/node/a",
		"posta://posta/node/%61", "posta://posta/node/a?b#c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cluster, id, err := parseURI(s)
		if err == nil && (id.uri(cluster) != s || ValidName(cluster) != nil || ValidName(id.Name) != nil) {
			t.Errorf("%q is taken for %v of %q", s, id, cluster)
		}
		if err != nil && id != (Identity{}) {
			t.Errorf("%v together with %v", id, err)
		}
	})
}

// FuzzRevoked: no line is skipped. Each that says anything revokes a key, or the file is refused.
func FuzzRevoked(f *testing.F) {
	seeds(f, ".revoked")
	f.Fuzz(func(t *testing.T, text []byte) {
		revoked, err := parseRevoked(text)
		if err != nil {
			return
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			line, _, _ = strings.Cut(line, "#")
			if line = strings.TrimSpace(line); line != "" && !revoked[Fingerprint(line)] {
				t.Errorf("%q revokes nobody", line)
			}
		}
		for key := range revoked {
			if _, err := ParseFingerprint(string(key)); err != nil {
				t.Errorf("%q is revoked", key)
			}
		}
	})
}

func keyText(t testing.TB, private any) []byte {
	t.Helper()
	der := must[[]byte](t)(x509.MarshalPKCS8PrivateKey(private))
	return pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der})
}

// FuzzKeyFiles: what can be read as a key or as CAs can be written and read again, and nothing of it is in an error.
func FuzzKeyFiles(f *testing.F) {
	seeds(f, ".pem")
	key := keyText(f, must[Key](f)(NewKey()).private()) // made here, so that no private key stands in the repository
	f.Add(key)
	f.Add(bytes.Repeat(key, 2))
	f.Add(key[:60])
	f.Add(keyText(f, must[*ecdsa.PrivateKey](f)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))))
	f.Fuzz(func(t *testing.T, text []byte) {
		if key, err := parseKey(text); err == nil {
			dir := t.TempDir()
			c := forgeFor(t, key, nil, "posta://posta/node/a", nil)
			noError(t, WritePair(dir, Pair{Key: key, Certificate: c}))
			if again, err := ReadPair(dir); err != nil || again.Key.Fingerprint() != key.Fingerprint() {
				t.Errorf("%v, %v", again.Key, err)
			}
		} else if len(text) > 40 && strings.Contains(err.Error(), string(text[20:40])) {
			t.Errorf("%v", err)
		}
		cas, err := parseCAs(text)
		if err != nil {
			return
		}
		if len(cas) < 1 || len(cas) > 2 {
			t.Errorf("%d CAs", len(cas))
		}
		var again []byte
		for _, ca := range cas {
			if !ca.IsCA || ValidName(ca.Subject.CommonName) != nil {
				t.Errorf("%v is taken for a CA", ca.Subject)
			}
			again = append(again, encodeCertificate(ca.Raw)...)
		}
		if _, err := parseCAs(again); err != nil {
			t.Error(err)
		}
	})
}
