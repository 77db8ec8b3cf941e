package zmqx

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/security"
)

// FuzzTLSGreeting: whatever a client sends first to a listener with keys, the listener then knows no peer, and has given no client more
// memory than a stranger may have.
func FuzzTLSGreeting(f *testing.F) {
	hello := clientHello(f)
	f.Add([]byte{})
	f.Add(hello)
	f.Add(hello[:len(hello)/2])
	f.Add(append(hello, hello...))
	f.Add(append(greetingBytes(), readyBytes("PUSH", "")...))
	f.Add(endlessHello()[:3*maxUnproven])
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	socket := newKeyring(f).node(f, "receiver-1").Socket(security.Data, anyone)
	f.Fuzz(func(t *testing.T, says []byte) {
		client, server := net.Pipe()
		var wg sync.WaitGroup
		wg.Add(2)
		go func() { // the answer
			defer wg.Done()
			_, _ = io.Copy(io.Discard, client)
		}()
		go func() {
			defer wg.Done()
			_, _ = client.Write(says)
			client.Close()
		}()
		counted := &countingConn{Conn: server}
		var p proof
		inside, err := secure(counted, socket, "", true, &p)
		server.Close()
		wg.Wait()
		if err == nil || inside != nil || p.from != "" {
			t.Fatalf("%q is known after %q", p.from, says)
		}
		if counted.n > maxUnproven+minWireBuffer {
			t.Fatalf("%d bytes were taken", counted.n)
		}
	})
}

// FuzzTLSAnswer: whatever a server sends first to a dialler with keys, the dialler has not accepted its identity, and has read no more than
// a stranger may send.
func FuzzTLSAnswer(f *testing.F) {
	k := newKeyring(f)
	answer := serverHello(f, k)
	f.Add([]byte{})
	f.Add(answer)
	f.Add(answer[:len(answer)/2])
	f.Add(append(answer, answer...))
	f.Add(append(greetingBytes(), readyBytes("PULL", "")...))
	f.Add([]byte{21, 3, 3, 0, 2, 2, 40})                // an alert
	f.Add([]byte{20, 3, 3, 0, 1, 1, 20, 3, 3, 0, 1, 1}) // change cipher spec, twice
	endless := endlessHello()[:3*maxUnproven]
	endless[recordHeader] = 2 // ServerHello
	f.Add(endless)
	socket := k.node(f, "sender-1").Socket(security.Data, anyone)
	f.Fuzz(func(t *testing.T, says []byte) {
		client, server := net.Pipe()
		var wg sync.WaitGroup
		wg.Add(2)
		go func() { // the greeting
			defer wg.Done()
			_, _ = io.Copy(io.Discard, server)
		}()
		go func() {
			defer wg.Done()
			_, _ = server.Write(says)
			server.Close()
		}()
		counted := &countingConn{Conn: client}
		var p proof
		inside, err := secure(counted, socket, "node/receiver-1", false, &p)
		client.Close()
		wg.Wait()
		if err == nil || inside != nil || p.from != "" {
			t.Fatalf("%q has answered with %q", p.from, says)
		}
		if counted.n > maxUnproven+minWireBuffer {
			t.Fatalf("%d bytes were taken", counted.n)
		}
	})
}

// serverHello returns what a listener answers to a ClientHello.
func serverHello(f *testing.F, k *keyring) []byte {
	client, server := net.Pipe()
	defer client.Close()
	done := make(chan struct{})
	socket := k.node(f, "receiver-1").Socket(security.Data, anyone)
	go func() {
		defer close(done)
		_, _ = secure(server, socket, "", true, new(proof))
		server.Close()
	}()
	_, err := client.Write(clientHello(f))
	noError(f, err)
	said := make([]byte, maxUnproven)
	n, err := client.Read(said)
	noError(f, err)
	client.Close()
	<-done
	return said[:n]
}

// FuzzTLSMiddle: in a genuine handshake, bytes of one direction are removed and others inserted. A side that completes the handshake
// nevertheless has found the right peer, and both share a secret that depends on every byte of the handshake.
func FuzzTLSMiddle(f *testing.F) {
	k := newKeyring(f)
	sender, receiver := k.node(f, "sender-1").Socket(security.Data, onlyNodes), k.node(f, "receiver-1").Socket(security.Data, onlyNodes)
	f.Add(uint16(60_000), false, uint16(0), []byte{}) // no change
	f.Add(uint16(0), false, uint16(5), []byte{22, 3, 3, 6, 0})
	f.Add(uint16(100), false, uint16(1), []byte{0})
	f.Add(uint16(40), true, uint16(1), []byte{0})
	f.Add(uint16(130), true, uint16(6), []byte{})                  // change cipher spec
	f.Add(uint16(127), true, uint16(0), []byte{20, 3, 3, 0, 1, 1}) // the same once more
	f.Add(uint16(1500), false, uint16(0), []byte{23, 3, 3, 0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
	f.Add(uint16(300), true, uint16(2000), []byte{21, 3, 3, 0, 2, 1, 0}) // close notify
	f.Fuzz(func(t *testing.T, at uint16, back bool, out uint16, in []byte) {
		dialler, middle1 := net.Pipe()
		listener, middle2 := net.Pipe()
		same, patience := out == 0 && len(in) == 0, 300*time.Millisecond // both may wait for bytes that were removed
		if same {
			patience = deadlineForTests
		}
		for _, c := range []net.Conn{dialler, listener} {
			noError(t, c.SetDeadline(time.Now().Add(patience)))
		}
		untouched := uint16(1<<16 - 1)
		there, here := at, untouched
		if back {
			there, here = untouched, at
		}
		var wg sync.WaitGroup
		wg.Add(3)
		go func() { defer wg.Done(); change(middle1, middle2, there, out, in) }()
		go func() { defer wg.Done(); change(middle2, middle1, here, out, in) }()
		var heard proof
		var listened error
		go func() {
			defer wg.Done()
			_, listened = secure(listener, receiver, "", true, &heard)
			listener.Close()
		}()
		var met proof
		_, dialled := secure(dialler, sender, "node/receiver-1", false, &met)
		dialler.Close()
		wg.Wait()
		if dialled == nil && met.from != "node/receiver-1" || dialled != nil && met.from != "" {
			t.Errorf("the dialler found %q, %v", met.from, dialled)
		}
		if listened == nil && heard.from != "node/sender-1" || listened != nil && heard.from != "" {
			t.Errorf("the listener found %q, %v", heard.from, listened)
		}
		if listened != nil {
			if same {
				t.Errorf("nothing was changed: %v, %v", listened, dialled)
			}
			return
		}
		if dialled != nil {
			t.Fatalf("the listener knows who has not finished its handshake: %v", dialled)
		}
		if a, b := secret(t, met), secret(t, heard); !bytes.Equal(a, b) {
			t.Error("both sides are content, and have different secrets")
		}
	})
}

// secret returns a value that only the two ends of one handshake can compute.
func secret(t *testing.T, p proof) []byte {
	t.Helper()
	b, err := p.state.ExportKeyingMaterial("EXPORTER-posta-test", nil, 32)
	noError(t, err)
	return b
}

// change forwards a stream. From the given place on it removes so many bytes, and inserts others.
func change(from, to net.Conn, at, out uint16, in []byte) {
	defer from.Close()
	defer to.Close()
	pass := func(n int64, w io.Writer) bool {
		_, err := io.CopyN(w, from, n)
		return err == nil
	}
	if !pass(int64(at), to) {
		return
	}
	if _, err := to.Write(in); err != nil {
		return
	}
	if pass(int64(out), io.Discard) {
		_, _ = io.Copy(to, from)
	}
}

// countingConn counts the bytes that are read.
type countingConn struct {
	net.Conn
	n int
}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n += n
	return n, err
}
