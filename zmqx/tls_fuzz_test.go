package zmqx

import (
	"io"
	"net"
	"sync"
	"testing"

	"posta.dev/posta/security"
)

// FuzzTLSGreeting: whatever comes first to a listener with keys, nobody is known afterwards, and nobody was given more room than a stranger may have.
func FuzzTLSGreeting(f *testing.F) {
	hello := clientHello(f)
	f.Add([]byte{})
	f.Add(hello)
	f.Add(hello[:len(hello)/2])
	f.Add(append(hello, hello...))
	f.Add(append(greetingBytes(), readyBytes("PUSH", "")...))
	f.Add(endlessHello()[:3*maxUnproven])
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	socket := newKeyring(f).node(f, "receiver-1").Socket(security.Data, nil)
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

// countingConn counts what is read.
type countingConn struct {
	net.Conn
	n int
}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n += n
	return n, err
}
