package security

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// TestS3_EachConnectionIsAFullHandshake: what TLS would never let happen by our settings is refused nevertheless.
func TestS3_EachConnectionIsAFullHandshake(t *testing.T) {
	c := newCluster(t)
	pair := must[Pair](t)(c.ca.Issue(Identity{Node, "sender-1"}, time.Now()))
	socket := c.keys(t, Node, "joiner-1").Socket(Data, anyone)
	good := tls.ConnectionState{
		Version: tls.VersionTLS13, HandshakeComplete: true, NegotiatedProtocol: "posta/2/data",
		PeerCertificates: []*x509.Certificate{must[*x509.Certificate](t)(x509.ParseCertificate(pair.Certificate))},
	}
	if name, err := socket.Peer(good); err != nil || name != "node/sender-1" {
		t.Fatalf("%q, %v", name, err)
	}
	for what, change := range map[string]func(*tls.ConnectionState){
		"resumed":         func(s *tls.ConnectionState) { s.DidResume = true },
		"TLS 1.2":         func(s *tls.ConnectionState) { s.Version = tls.VersionTLS12 },
		"no protocol":     func(s *tls.ConnectionState) { s.NegotiatedProtocol = "" },
		"another kind":    func(s *tls.ConnectionState) { s.NegotiatedProtocol = "posta/2/broadcast" },
		"no certificates": func(s *tls.ConnectionState) { s.PeerCertificates = nil },
	} {
		state := good
		change(&state)
		if name, err := socket.Peer(state); !errors.Is(err, ErrUntrusted) || name != "" {
			t.Errorf("%s: %q, %v", what, name, err)
		}
		// TLS asks in the handshake, so that the other side is told at once.
		for _, config := range []*tls.Config{socket.Server(), must[*tls.Config](t)(socket.Client("node/sender-1"))} {
			if err := config.VerifyConnection(state); !errors.Is(err, ErrUntrusted) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

// TestS3_KindsAreDifferentProtocols: no kind of socket is taken for another one.
func TestS3_KindsAreDifferentProtocols(t *testing.T) {
	keys := newCluster(t).keys(t, Node, "joiner-1")
	seen := map[string]Kind{}
	for _, k := range []Kind{Data, Broadcast, Control, ClientAPI} {
		for _, config := range []*tls.Config{keys.Socket(k, anyone).Server(), must[*tls.Config](t)(keys.Socket(k, anyone).Client("node/a"))} {
			if len(config.NextProtos) != 1 || config.MinVersion != tls.VersionTLS13 || !config.SessionTicketsDisabled ||
				config.ClientSessionCache != nil || !config.DynamicRecordSizingDisabled {
				t.Errorf("%s: %+v", k, config)
			}
			if other, taken := seen[config.NextProtos[0]]; taken && other != k {
				t.Errorf("%s and %s speak the same", k, other)
			}
			seen[config.NextProtos[0]] = k
		}
		if config := keys.Socket(k, anyone).Server(); config.ClientAuth != tls.RequireAnyClientCert || config.InsecureSkipVerify {
			t.Errorf("%s: %+v", k, config)
		}
	}
}

// TestS3_AListenerSaysWhoMayUseIt: a socket without a list of who may use it dials, and lets nobody in.
func TestS3_AListenerSaysWhoMayUseIt(t *testing.T) {
	c := newCluster(t)
	listener, dialler := c.keys(t, Node, "joiner-1"), c.keys(t, Node, "input-1")
	handshake := func(admit func(Identity) error) error {
		a, b := net.Pipe()
		defer a.Close()
		defer b.Close()
		served := make(chan error, 1)
		go func() {
			served <- tls.Server(a, listener.Socket(Data, admit).Server()).HandshakeContext(t.Context())
			a.Close()
		}()
		client := tls.Client(b, must[*tls.Config](t)(dialler.Socket(Data, nil).Client("node/joiner-1")))
		go func() { _ = client.HandshakeContext(t.Context()); _, _ = io.Copy(io.Discard, client) }() // ends with the pipe
		return <-served
	}
	if err := handshake(anyone); err != nil {
		t.Errorf("where anyone is let in: %v", err)
	}
	if err := handshake(nil); !errors.Is(err, ErrNotAdmitted) {
		t.Errorf("with no rule for which peers are let in: %v", err)
	}
}
