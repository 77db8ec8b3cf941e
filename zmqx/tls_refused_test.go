package zmqx

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/security"
	"posta.dev/posta/test/await"
)

// pair makes the key and certificate of a process of any role.
func (k *keyring) pair(t testing.TB, role security.Role, name string) security.Pair {
	t.Helper()
	if role == security.Client {
		return must[security.Pair](t)(security.NewClient("posta", name, time.Now()))
	}
	return must[security.Pair](t)(k.ca.Issue(security.Identity{Role: role, Name: name}, time.Now()))
}

func certificate(p security.Pair) []tls.Certificate {
	return []tls.Certificate{{Certificate: [][]byte{p.Certificate}, PrivateKey: p.Key}}
}

// TestS3_WhoIsRefusedByAListener: each of these clients has one defect, and does not become a peer.
func TestS3_WhoIsRefusedByAListener(t *testing.T) {
	k, other := newKeyring(t), newKeyring(t)
	alice := k.pair(t, security.Client, "alice")
	revoked := k.pair(t, security.Node, "revoked-1")
	sender := k.node(t, "sender-1")
	keys := k.load(t, "receiver-1", k.pair(t, security.Node, "receiver-1"),
		security.Clients{alice.Key.Fingerprint(): {Role: security.Operate, Name: "alice"}})
	noError(t, security.Revoke(k.dir("receiver-1"), revoked.Key.Fingerprint(), ""))
	noError(t, keys.Reload())
	said := newLogs()
	pull, address := newPull(t, Options{TLS: keys.Socket(security.Data, onlyNodes), Logger: said.logger(),
		HandshakeTimeout: deadlineForTests}, "tcp://127.0.0.1:0")

	for _, c := range []struct {
		name   string
		change func(*tls.Config)
		cause  error
		says   string
	}{
		{"TLS 1.2", func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 }, ErrRefused, "unsupported versions"},
		{"no certificate", func(c *tls.Config) { c.Certificates = nil }, ErrRefused, "didn't provide a certificate"},
		{"no protocol", func(c *tls.Config) { c.NextProtos = nil }, security.ErrUntrusted, "does not speak posta/2/data"},
		{"another kind of socket", func(c *tls.Config) { c.NextProtos = []string{"posta/2/control", "posta/2/client"} }, ErrRefused,
			"unsupported application protocols"},
		{"another version", func(c *tls.Config) { c.NextProtos = []string{"posta/1/data"} }, ErrRefused, "unsupported application protocols"},
		{"a node of another CA", func(c *tls.Config) { c.Certificates = certificate(other.pair(t, security.Node, "sender-1")) },
			security.ErrUntrusted, "not issued by a CA"},
		{"a client that is not listed", func(c *tls.Config) { c.Certificates = certificate(k.pair(t, security.Client, "bob")) },
			security.ErrNotAdmitted, "[clients]"},
		{"a client where nodes meet", func(c *tls.Config) { c.Certificates = certificate(alice) }, security.ErrNotAdmitted,
			"only nodes are wanted"},
		{"a medic where nodes meet", func(c *tls.Config) { c.Certificates = certificate(k.pair(t, security.Medic, "medic-1")) },
			security.ErrNotAdmitted, "only nodes are wanted"},
		{"a revoked key", func(c *tls.Config) { c.Certificates = certificate(revoked) }, security.ErrRevoked, "revoked-1"},
		{"two certificates", func(c *tls.Config) {
			c.Certificates = certificate(k.pair(t, security.Node, "sender-1"))
			c.Certificates[0].Certificate = append(c.Certificates[0].Certificate, k.ca.Certificate().Raw)
		}, security.ErrUntrusted, "2 certificates"},
		{"the certificate of another key", func(c *tls.Config) {
			c.Certificates = certificate(k.pair(t, security.Node, "sender-1"))
			c.Certificates[0].PrivateKey = k.pair(t, security.Node, "sender-1").Key
		}, ErrRefused, "invalid signature"},
	} {
		config := must[*tls.Config](t)(sender.Socket(security.Data, anyone).Client("node/receiver-1"))
		c.change(config)
		config.VerifyConnection = nil // only the client under test may refuse
		conn := rawDial(t, address)
		client := tls.Client(conn, config)
		_, _ = client.Write(append(append(greetingBytes(), readyBytes("PUSH", "")...), wireMessage("let me in")...))
		expectClosed(t, conn)
		if cause := said.await(t); !errors.Is(cause, ErrRefused) || !errors.Is(cause, c.cause) || !strings.Contains(cause.Error(), c.says) {
			t.Errorf("%s: %v", c.name, cause)
		}
	}
	if n := pull.connects(); n != 0 {
		t.Errorf("%d were admitted", n)
	}

	t.Run("plain", func(t *testing.T) { // there is no fallback to plain (S2)
		told := newEvents()
		push := newPush(t, Options{OnEvent: told.take, HandshakeTimeout: deadlineForTests}, address)
		told.await(t, Unreachable)
		if cause := said.await(t); !errors.Is(cause, ErrRefused) || !strings.Contains(cause.Error(), "does not look like a TLS handshake") {
			t.Errorf("%v", cause)
		}
		if push.connects()+pull.connects() > 0 {
			t.Error("a plain peer was admitted")
		}
	})
}

// TestS3_WhoIsRefusedByADialler: each of these servers has one defect. It receives no byte of ZMTP, and the caller gets the reason.
func TestS3_WhoIsRefusedByADialler(t *testing.T) {
	k, other := newKeyring(t), newKeyring(t)
	receiver, sender := k.node(t, "receiver-1"), k.node(t, "sender-1")
	for _, c := range []struct {
		name   string
		change func(*tls.Config)
		cause  error
		says   string
	}{
		{"another node", func(c *tls.Config) { c.Certificates = certificate(k.pair(t, security.Node, "receiver-2")) }, security.ErrUntrusted,
			"node/receiver-1 was dialled and node/receiver-2 answered"},
		{"a medic of that name", func(c *tls.Config) { c.Certificates = certificate(k.pair(t, security.Medic, "receiver-1")) },
			security.ErrUntrusted, "node/receiver-1 was dialled and medic/receiver-1 answered"},
		{"a client", func(c *tls.Config) { c.Certificates = certificate(k.pair(t, security.Client, "receiver-1")) }, security.ErrNotAdmitted,
			"[clients]"},
		{"a node of another CA", func(c *tls.Config) { c.Certificates = certificate(other.pair(t, security.Node, "receiver-1")) },
			security.ErrUntrusted, "not issued by a CA"},
		{"with its CA", func(c *tls.Config) {
			c.Certificates = certificate(k.pair(t, security.Node, "receiver-1"))
			c.Certificates[0].Certificate = append(c.Certificates[0].Certificate, k.ca.Certificate().Raw)
		}, security.ErrUntrusted, "2 certificates"},
		{"no protocol", func(c *tls.Config) { c.NextProtos = nil }, security.ErrUntrusted, "does not speak posta/2/data"},
		{"another kind of socket", func(c *tls.Config) { c.NextProtos = []string{"posta/2/control"} }, errHandshake,
			"the peer refuses this process"},
		{"TLS 1.2", func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 }, errHandshake,
			"the peer refuses this process"},
		{"plain", nil, errHandshake, "does not look like a TLS handshake"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			noError(t, err)
			heard := make(chan int, 1)
			go func() {
				conn, err := l.Accept()
				if err != nil {
					t.Error(err)
				}
				defer conn.Close()
				var in net.Conn = conn
				if c.change == nil {
					_, err = conn.Write(greetingBytes())
				} else {
					config := receiver.Socket(security.Data, anyone).Server()
					config.VerifyConnection = nil
					c.change(config)
					server := tls.Server(conn, config)
					in, err = server, server.Handshake()
				}
				n := 0
				if err == nil && c.change != nil {
					n, _ = in.Read(make([]byte, greetingSize))
				}
				heard <- n
			}()
			told := newEvents()
			o := Options{TLS: sender.Socket(security.Data, anyone), OnEvent: told.take, BackoffMin: time.Hour, BackoffMax: time.Hour}
			o.HandshakeTimeout = deadlineForTests // the connection must end because of the server's defect, not because the machine stands still
			push, err := NewPush(o)
			closing(t, push, err)
			noError(t, push.TrySend(text("for receiver-1 alone")))
			noError(t, push.ConnectTo("tcp://"+l.Addr().String(), "node/receiver-1"))
			if e := told.await(t, Unreachable); !errors.Is(e.Err, errHandshake) || !errors.Is(e.Err, c.cause) ||
				!strings.Contains(e.Err.Error(), c.says) {
				t.Errorf("%v", e.Err)
			}
			if n := <-heard; n > 0 {
				t.Errorf("the server was told %d bytes", n)
			}
			if n := push.connects(); n > 0 {
				t.Error("it was admitted")
			}
			noError(t, l.Close())
		})
	}
}

// TestS3_NothingIsResumed: a client offers a session ticket from another server with this certificate. It has to prove its identity again
// nevertheless.
func TestS3_NothingIsResumed(t *testing.T) {
	k := newKeyring(t)
	keys := k.node(t, "receiver-1")
	config := must[*tls.Config](t)(k.node(t, "sender-1").Socket(security.Data, anyone).Client("node/receiver-1"))
	config.SessionTicketsDisabled, config.ServerName, config.VerifyConnection = false, "receiver-1", nil
	config.ClientSessionCache = tls.NewLRUClientSessionCache(1)

	careless := keys.Socket(security.Data, anyone).Server()
	careless.SessionTicketsDisabled, careless.VerifyConnection = false, nil
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	defer l.Close()
	for _, resumed := range []bool{false, true} { // the second time shows that the ticket is valid
		done := make(chan error, 1)
		go func() {
			conn, err := l.Accept()
			if err == nil {
				_, err = tls.Server(conn, careless).Write([]byte("x"))
				defer conn.Close()
			}
			done <- err
		}()
		conn, err := net.Dial("tcp", l.Addr().String())
		noError(t, err)
		client := tls.Client(conn, config)
		_, err = client.Read(make([]byte, 1)) // this also reads the ticket
		noError(t, err)
		noError(t, <-done)
		if got := client.ConnectionState().DidResume; got != resumed {
			t.Fatalf("resumed: %v", got)
		}
		conn.Close()
	}

	pull, address := newPull(t, Options{TLS: keys.Socket(security.Data, anyone), HandshakeTimeout: deadlineForTests}, "tcp://127.0.0.1:0")
	offer := func() *tls.Conn {
		client := tls.Client(rawDial(t, address), config)
		noError(t, client.Handshake())
		if client.ConnectionState().DidResume {
			t.Error("the connection is a resumed one")
		}
		_, _ = client.Write(append(greetingBytes(), readyBytes("PUSH", "")...))
		return client
	}
	offer()
	await.Until(t, "who proves himself again is admitted", func() bool { return pull.peerCount() == 1 })
	noError(t, security.Revoke(k.dir("receiver-1"), must[security.Pair](t)(security.ReadPair(k.dir("sender-1"))).Key.Fingerprint(), ""))
	noError(t, keys.Reload())
	expectClosed(t, offer().NetConn())
	if n := pull.connects(); n != 1 {
		t.Errorf("%d were admitted", n)
	}
}
