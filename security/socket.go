package security

import (
	"crypto/tls"
	"fmt"
)

// Kind is what a socket is for. Each kind is an application protocol of TLS (ALPN), so that a connection to one kind cannot be led to a
// socket of another kind, where the same bytes could mean something else.
type Kind string

const (
	Data      Kind = "data"      // frames of links
	Broadcast Kind = "broadcast" // frames of links over PUB
	Control   Kind = "control"   // acknowledgements and heartbeats of nodes, and what medics say
	ClientAPI Kind = "client"    // requests of clients
)

// Protocol is the name of the application protocol. Its version is 2, as that of the wire is.
func (k Kind) Protocol() string { return "posta/2/" + string(k) }

// Socket is what one socket needs to speak TLS. It implements zmqx.TLS, and uses the present state of Keys for each connection.
type Socket struct {
	keys  *Keys
	kind  Kind
	admit func(Identity) error
}

// Socket returns the settings of a socket of the given kind. admit returns an error if a proven identity may not use the socket. It is
// called for both directions, from many goroutines. A nil admit is for a socket that only dials: such a socket admits the process that was
// dialled, and refuses everybody as a listener.
func (k *Keys) Socket(kind Kind, admit func(Identity) error) *Socket {
	return &Socket{keys: k, kind: kind, admit: admit}
}

// Server returns the settings for one connection that was accepted.
func (s *Socket) Server() *tls.Config {
	c := s.config()
	c.ClientAuth = tls.RequireAnyClientCert
	if s.admit == nil {
		c.VerifyConnection = func(tls.ConnectionState) error {
			return fmt.Errorf("%w: nobody may use this socket for %s, because nobody has said who may", ErrNotAdmitted, s.kind)
		}
	}
	return c
}

// Client returns the settings for one connection to the process with this name, in the form of Identity.String. No other process of the
// cluster may answer, although the address may belong to another process by now.
func (s *Socket) Client(name string) (*tls.Config, error) {
	want, err := ParseIdentity(name)
	if err != nil {
		return nil, fmt.Errorf("security: with keys it must be known who is dialled: %w", err)
	}
	c := s.config()
	// Certificates have no host names, because processes move and name servers are not trusted. VerifyConnection, which TLS calls for each
	// connection, makes the checks that are skipped here, and more.
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

// config returns what both directions share.
func (s *Socket) config() *tls.Config {
	return &tls.Config{
		MinVersion:                  tls.VersionTLS13,
		Certificates:                []tls.Certificate{s.keys.loaded.Load().certificate},
		NextProtos:                  []string{s.kind.Protocol()},
		SessionTicketsDisabled:      true, // a resumed connection would not show its certificate, which may have been revoked since
		DynamicRecordSizingDisabled: true, // records are full from the beginning, as no peer gains from small first ones
		VerifyConnection: func(state tls.ConnectionState) error {
			_, err := s.verify(state)
			return err
		},
	}
}

// Peer returns the name that the peer has proven, if the peer may use this socket.
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
	if state.NegotiatedProtocol != s.kind.Protocol() {
		return Identity{}, fmt.Errorf("%w: the peer does not speak %s; another kind of socket was dialled, or another version of Posta",
			ErrUntrusted, s.kind.Protocol())
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
