package security

import (
	"crypto/tls"
	"fmt"
)

// Kind is what a socket is for. Each kind is an application protocol of TLS (ALPN), so that a connection to one kind cannot be led to a socket
// of another kind, where the same bytes could mean something else.
type Kind string

const (
	Data      Kind = "data"      // frames of links
	Broadcast Kind = "broadcast" // frames of links over PUB
	Control   Kind = "control"   // acknowledgements and heartbeats of nodes, and what medics say
	ClientAPI Kind = "client"    // requests of clients
)

// protocol is 2 as the version of the wire is.
func (k Kind) protocol() string { return "posta/2/" + string(k) }

// Socket is what one socket needs to speak TLS. It implements zmqx.TLS, and asks Keys anew for each connection.
type Socket struct {
	keys  *Keys
	kind  Kind
	admit func(Identity) error
}

// Socket makes the settings of a socket of the given kind. admit says whether an identity that is proven may use it, and is asked in both
// directions; it is called from many goroutines, and nil admits everybody of the cluster.
func (k *Keys) Socket(kind Kind, admit func(Identity) error) *Socket {
	return &Socket{keys: k, kind: kind, admit: admit}
}

// Server is for one connection that was accepted.
func (s *Socket) Server() *tls.Config {
	c := s.config()
	c.ClientAuth = tls.RequireAnyClientCert
	return c
}

// Client is for one connection to the process with this name, which Identity.String has written. No other process of the cluster may answer
// there: addresses change hands.
func (s *Socket) Client(name string) (*tls.Config, error) {
	want, err := ParseIdentity(name)
	if err != nil {
		return nil, fmt.Errorf("security: with keys it must be known who is dialled: %w", err)
	}
	c := s.config()
	// Certificates have no names of hosts: processes move, and who answers a name server is not asked. VerifyConnection, which TLS calls on each
	// connection, does what is skipped here, and more.
	c.InsecureSkipVerify = true
	c.VerifyConnection = func(state tls.ConnectionState) error {
		got, err := s.verify(state)
		if err == nil && got != want {
			err = fmt.Errorf("%w: %s was dialled and %s answered; check the addresses in the topology file", ErrUntrusted, want, got)
		}
		return err
	}
	return c, nil
}

// config is what both directions share.
func (s *Socket) config() *tls.Config {
	return &tls.Config{
		MinVersion:                  tls.VersionTLS13,
		Certificates:                []tls.Certificate{s.keys.loaded.Load().certificate},
		NextProtos:                  []string{s.kind.protocol()},
		SessionTicketsDisabled:      true, // a resumed connection would not be asked for its certificate, which may be revoked by now
		DynamicRecordSizingDisabled: true, // records are full from the beginning: nobody renders what comes first
		VerifyConnection: func(state tls.ConnectionState) error {
			_, err := s.verify(state)
			return err
		},
	}
}

// Peer returns the name that the peer has proven, as long as it may use this socket.
func (s *Socket) Peer(state tls.ConnectionState) (string, error) {
	id, err := s.verify(state)
	if err != nil {
		return "", err
	}
	return id.String(), nil
}

func (s *Socket) verify(state tls.ConnectionState) (Identity, error) {
	if state.Version != tls.VersionTLS13 || state.DidResume {
		return Identity{}, fmt.Errorf("%w: the connection is not a full handshake of TLS 1.3", ErrUntrusted)
	}
	// A peer that offers no protocol at all is not refused by TLS itself.
	if state.NegotiatedProtocol != s.kind.protocol() {
		return Identity{}, fmt.Errorf("%w: the peer does not speak %s; another kind of socket was dialled, or another version of Posta", ErrUntrusted, s.kind.protocol())
	}
	var raw [][]byte
	for _, c := range state.PeerCertificates {
		raw = append(raw, c.Raw)
	}
	id, err := s.keys.loaded.Load().trust.Verify(raw, s.keys.now())
	if err != nil {
		return Identity{}, err
	}
	if s.admit == nil {
		return id, nil
	}
	if err := s.admit(id); err != nil {
		return Identity{}, fmt.Errorf("%w: %s at a socket for %s: %w", ErrNotAdmitted, id, s.kind, err)
	}
	return id, nil
}
