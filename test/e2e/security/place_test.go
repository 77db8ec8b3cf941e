package security

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
	"posta.dev/posta/test/keytest"
	"posta.dev/posta/topology"
)

// TestS3_ADeadNodesPlaceIsNotTaken: a node is killed, and others listen at its addresses: the same name of another cluster, another member,
// a client. Whoever dials the dead node says nothing to them. When the node is back, sessions continue.
func TestS3_ADeadNodesPlaceIsNotTaken(t *testing.T) {
	d := generated(t, 5_000)
	c := start(t, overTCP())
	ctx := until(t)
	c.analyse(ctx, alice, d) // everybody is there
	dead := c.node("joiner-1")
	if err := c.procs[dead.ID].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.procs[dead.ID].Wait() // it was killed
	attackers := map[string]*security.Keys{
		"the node of another cluster": keytest.New(t, "posta").Of(t, dead), "another member": c.ring.Load(t, c.node("joiner-2").Identity()),
		"a client": c.keys[alice],
	}
	for kind, at := range map[security.Kind]topology.Endpoint{security.Control: dead.Sockets.Control, security.Data: dead.Sockets.Data} {
		for who, keys := range attackers {
			c.takesPlace(fmt.Sprintf("%s at the socket for %s of %s", who, kind, dead.ID), at,
				keys.Socket(kind, func(security.Identity) error { return nil }))
		}
	}
	c.run(dead.ID, filepath.Dir(c.topo.File))
	c.analyse(ctx, alice, d)
}

// takesPlace listens at an address until somebody dials it, and demands that it is told nothing.
func (c *cluster) takesPlace(what string, at topology.Endpoint, socket *security.Socket) {
	c.t.Helper()
	l, err := net.Listen("tcp", strings.TrimPrefix(at.Bind, "tcp://"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer l.Close()
	err = l.(*net.TCPListener).SetDeadline(time.Now().Add(patience))
	var conn net.Conn
	if err == nil {
		conn, err = l.Accept()
	}
	if err == nil {
		defer conn.Close()
		err = conn.SetDeadline(time.Now().Add(patience))
	}
	if err != nil {
		c.t.Fatalf("%s: nobody dials: %v", what, err)
	}
	said := make([]byte, 1)
	inside := tls.Server(conn, socket.Server())
	if n, err := inside.Read(said); n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Errorf("%s: is told something, or is kept: %d bytes, %v", what, n, err)
	}
}

// TestS5_ASubmitterDoesNotOperate: a client that may submit, or only watch, holds no sessions back, cancels none of another client, and is
// shown none.
func TestS5_ASubmitterDoesNotOperate(t *testing.T) {
	d := generated(t, 5_000)
	c := start(t, overTCP())
	ctx := until(t)
	cl, err := client.Dial(ctx, c.config(alice, d))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.Open(ctx); err != nil {
		t.Fatal(err)
	}
	for _, who := range []security.Identity{bob, carol} {
		for _, n := range c.topo.Holding(topology.Input) {
			entry := client.NamedEndpoint(n.Sockets.Client.Dial, string(n.ID))
			for _, q := range []protocol.Request{{Type: protocol.Hold, Lease: time.Hour}, {Type: protocol.Hold}} {
				reply, err := client.RequestOnce(ctx, c.keys[who], entry, q, patience)
				var refused *protocol.Error
				if !errors.As(err, &refused) || refused.Code != protocol.ErrForbidden {
					t.Errorf("%s of %s is answered with %+v, %v", q.Type, who, reply, err)
				}
			}
			if reply, err := client.RequestOnce(ctx, c.keys[who], entry, protocol.Request{Type: protocol.Sessions}, patience); who == bob &&
				(err != nil || len(reply.Sessions) > 0) {
				t.Errorf("%s is shown %+v, %v", who, reply.Sessions, err)
			}
		}
	}
	c.analyse(ctx, alice, d) // begins at once: nothing is held back
	d.sent(ctx, t, cl)
}
