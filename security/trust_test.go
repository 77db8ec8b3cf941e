package security

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestS3_Verify is the table of what a certificate must be. Each case is refused by one check alone.
func TestS3_Verify(t *testing.T) {
	ca, second, other, elsewhere := newCA(t), newCA(t), newCA(t), must[*CA](t)(NewCA("elsewhere", today))
	node := issued(t, ca, Node, "joiner-1")
	alice, bob := must[Pair](t)(NewClient("posta", "alice", today)), must[Pair](t)(NewClient("posta", "bob", today))
	const uri, client = "posta://posta/node/joiner-1", "posta://posta/client/alice"
	trust := &Trust{Cluster: "posta", CAs: []*x509.Certificate{ca.Certificate(), second.Certificate()}, Clients: Clients{},
		Revoked: map[Fingerprint]bool{}}
	listed := func(p Pair) [][]byte {
		trust.Clients[p.Key.Fingerprint()] = Identity{Submit, "alice"}
		return [][]byte{p.Certificate}
	}
	one := func(p Pair) [][]byte { return [][]byte{p.Certificate} }
	revoked, revokedClient := issued(t, ca, Node, "joiner-1"), must[Pair](t)(NewClient("posta", "alice", today))
	trust.Revoked[revoked.Key.Fingerprint()], trust.Revoked[revokedClient.Key.Fingerprint()] = true, true
	intermediate := forge(t, ca, uri, func(c *x509.Certificate) { c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign })
	below := &CA{cluster: "posta", key: intermediate.Key, certificate: must[*x509.Certificate](t)(
		x509.ParseCertificate(intermediate.Certificate))}
	clientUse := func(c *x509.Certificate) { c.ExtKeyUsage = usages(Client) }
	promoted := must[Pair](t)(NewClient("posta", "alice", today))
	trust.Clients[promoted.Key.Fingerprint()] = Identity{Node, "joiner-1"}
	unsigned := func() Pair { // a client's certificate that another key has signed
		p := forge(t, below, client, clientUse)
		return p
	}

	cases := []struct {
		name string
		raw  [][]byte
		now  time.Time
		want Identity
		err  error
		says string
	}{
		{name: "a node", raw: one(node), want: Identity{Node, "joiner-1"}},
		{name: "a medic", raw: one(issued(t, ca, Medic, "medic-2")), want: Identity{Medic, "medic-2"}},
		{name: "of the second CA", raw: one(issued(t, second, Node, "joiner-1")), want: Identity{Node, "joiner-1"}},
		{name: "a client", raw: listed(alice), want: Identity{Submit, "alice"}},
		{name: "a clock that is far behind", raw: one(node), now: time.Unix(1, 0), want: Identity{Node, "joiner-1"}},
		{name: "on the last day", raw: one(node), now: today.Add(CertificateLife), want: Identity{Node, "joiner-1"}},

		{name: "no certificate", raw: nil, err: ErrUntrusted, says: "0 certificates"},
		{name: "two leaves", raw: [][]byte{node.Certificate, node.Certificate}, err: ErrUntrusted, says: "2 certificates"},
		{name: "with its CA", raw: [][]byte{node.Certificate, ca.certificate.Raw}, err: ErrUntrusted, says: "2 certificates"},
		{name: "too long", raw: one(forge(t, ca, uri, func(c *x509.Certificate) { c.Subject.CommonName = strings.Repeat("x", maxCertificate) })),
			err: ErrUntrusted, says: "at most"},
		{name: "rubbish", raw: [][]byte{[]byte("rubbish")}, err: ErrUntrusted},
		{name: "another CA", raw: one(issued(t, other, Node, "joiner-1")), err: ErrUntrusted, says: "not issued by a CA in ca.pem"},
		{name: "self-signed, claims a node", raw: listed(forge(t, nil, uri, nil)), err: ErrUntrusted, says: "not issued by a CA in ca.pem"},
		{name: "by an intermediate", raw: one(must[Pair](t)(below.Issue(Identity{Node, "joiner-1"}, today))), err: ErrUntrusted,
			says: "not issued by a CA in ca.pem"},
		{name: "the CA itself", raw: one(forge(t, ca, uri, func(c *x509.Certificate) { c.IsCA = true })), err: ErrUntrusted,
			says: "not for connections"},
		{name: "another cluster", raw: one(must[Pair](t)(elsewhere.Issue(Identity{Node, "joiner-1"}, today))), err: ErrUntrusted,
			says: "of the cluster elsewhere"},
		{name: "another cluster, by our CA", raw: one(forge(t, ca, "posta://elsewhere/node/joiner-1", nil)), err: ErrUntrusted,
			says: "of the cluster elsewhere"},
		{name: "not for signatures", raw: one(forge(t, ca, uri, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment })),
			err: ErrUntrusted, says: "not for connections"},
		{name: "not for servers", raw: one(forge(t, ca, uri, clientUse)), err: ErrUntrusted, says: "lacks a usage"},
		{name: "not for clients", raw: one(forge(t, ca, uri, func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		})), err: ErrUntrusted, says: "lacks a usage"},
		{name: "no name", raw: one(forge(t, ca, uri, func(c *x509.Certificate) { c.URIs = nil })), err: ErrUntrusted, says: "no name"},
		{name: "two names", raw: one(forge(t, ca, uri, func(c *x509.Certificate) { c.URIs = append(c.URIs, c.URIs[0]) })), err: ErrUntrusted,
			says: "2 names"},
		{name: "a name of another kind", raw: one(forge(t, ca, uri, func(c *x509.Certificate) { c.URIs, c.DNSNames = nil, []string{uri} })),
			err: ErrUntrusted, says: "not a URI"},
		{name: "a name of another kind beside", raw: one(forge(t, ca, uri, func(c *x509.Certificate) { c.DNSNames = []string{"a"} })),
			err: ErrUntrusted, says: "2 names"},
		{name: "an empty query", raw: one(forge(t, ca, uri, func(c *x509.Certificate) { c.URIs[0].ForceQuery = true })), err: ErrUntrusted,
			says: "is not posta://"},
		{name: "an escape", raw: one(forge(t, ca, uri, func(c *x509.Certificate) {
			c.URIs = []*url.URL{{Opaque: "//posta/node/%61", Scheme: "posta"}}
		})), err: ErrUntrusted, says: "is not posta://"},
		{name: "an unknown role", raw: one(forge(t, ca, "posta://posta/root/joiner-1", nil)), err: ErrUntrusted, says: "is not posta://"},
		{name: "a client that says what it may do", raw: listed(forge(t, nil, "posta://posta/operate/alice", nil)), err: ErrUntrusted,
			says: "is not posta://"},
		{name: "another kind of key", raw: [][]byte{ecdsaCertificate(t, ca, uri)}, err: ErrUntrusted, says: "Ed25519"},

		{name: "expired", raw: one(node), now: today.Add(CertificateLife + time.Second), err: ErrExpired,
			says: "its certificate is valid from 1970-01-01"},
		{name: "not yet valid", raw: one(forge(t, ca, uri, func(c *x509.Certificate) { c.NotBefore = today.Add(time.Hour) })), err: ErrExpired,
			says: "joiner-1"},
		{name: "an expired CA", raw: one(forge(t, ca, uri, func(c *x509.Certificate) { c.NotAfter = today.Add(2 * caLife) })),
			now: today.Add(caLife + time.Hour), err: ErrExpired, says: "its CA"},
		{name: "an expired client", raw: listed(alice), now: today.Add(CertificateLife + time.Second), err: ErrExpired},
		{name: "a client that is not yet valid", raw: listed(forge(t, nil, client,
			func(c *x509.Certificate) { clientUse(c); c.NotBefore = today.Add(time.Hour) })), err: ErrExpired},
		{name: "revoked", raw: one(revoked), err: ErrRevoked, says: string(revoked.Key.Fingerprint())},
		{name: "a revoked client", raw: listed(revokedClient), err: ErrRevoked},
		{name: "a client that is not listed", raw: one(bob), err: ErrNotAdmitted, says: string(bob.Key.Fingerprint())},
		{name: "a client that is not listed, by our CA", raw: one(forge(t, ca, client, clientUse)), err: ErrNotAdmitted},
		{name: "a client that another key has signed", raw: listed(unsigned()), err: ErrUntrusted, says: "not signed with its own key"},
		{name: "a client that is listed as a node", raw: one(promoted), err: ErrNotAdmitted, says: "with the role node"},
		{name: "a client of another cluster", raw: listed(must[Pair](t)(NewClient("elsewhere", "alice", today))), err: ErrUntrusted,
			says: "of the cluster elsewhere"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.now.IsZero() {
				c.now = today
			}
			id, err := trust.Verify(c.raw, c.now)
			if c.err == nil {
				if err != nil || id != c.want {
					t.Fatalf("%v, %v", id, err)
				}
				return
			}
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, %v; want %v with %q", id, err, c.err, c.says)
			}
			if id != (Identity{}) {
				t.Errorf("%v is named although it is refused", id)
			}
		})
	}
}

func ecdsaCertificate(t testing.TB, ca *CA, uri string) []byte {
	key := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	c := &x509.Certificate{
		SerialNumber: big.NewInt(7), NotBefore: begin, NotAfter: today.Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: usages(Node),
		URIs:        []*url.URL{must[*url.URL](t)(url.Parse(uri))},
	}
	return must[[]byte](t)(x509.CreateCertificate(rand.Reader, c, ca.certificate, &key.PublicKey, ca.key))
}

// TestS6_TwoCAsAtOnce: while both are trusted every certificate of either is; afterwards those of the former are not.
func TestS6_TwoCAsAtOnce(t *testing.T) {
	former, next := newCA(t), newCA(t)
	a, b := issued(t, former, Node, "a"), issued(t, next, Node, "b")
	for _, c := range []struct {
		cas  []*x509.Certificate
		a, b bool
	}{
		{[]*x509.Certificate{former.Certificate()}, true, false},
		{[]*x509.Certificate{former.Certificate(), next.Certificate()}, true, true},
		{[]*x509.Certificate{next.Certificate()}, false, true},
	} {
		trust := &Trust{Cluster: "posta", CAs: c.cas}
		_, errA := trust.Verify([][]byte{a.Certificate}, today)
		_, errB := trust.Verify([][]byte{b.Certificate}, today)
		if (errA == nil) != c.a || (errB == nil) != c.b {
			t.Errorf("with %d CAs: %v, %v", len(c.cas), errA, errB)
		}
	}
}

// TestCA_IssuesNoMoreThanItShould: a CA names nodes and medics, and no certificate outlives it.
func TestCA_IssuesNoMoreThanItShould(t *testing.T) {
	ca := newCA(t)
	for _, id := range []Identity{{Client, "a"}, {Submit, "a"}, {Operate, "a"}, {"", "a"}, {Node, ""}, {Node, "A"}, {Node, "a/b"}} {
		if _, err := ca.Issue(id, today); err == nil {
			t.Errorf("%v was issued", id)
		}
	}
	if _, err := NewCA("Posta", today); err == nil {
		t.Error("a CA was made for the cluster Posta")
	}
	late := must[Pair](t)(ca.Issue(Identity{Node, "a"}, today.Add(caLife-time.Hour)))
	c := must[*x509.Certificate](t)(x509.ParseCertificate(late.Certificate))
	if !c.NotAfter.Equal(ca.certificate.NotAfter) {
		t.Errorf("the certificate ends at %v, its CA at %v", c.NotAfter, ca.certificate.NotAfter)
	}
	if !ca.certificate.MaxPathLenZero || ca.certificate.MaxPathLen != 0 {
		t.Error("the CA may have others below it")
	}
}
