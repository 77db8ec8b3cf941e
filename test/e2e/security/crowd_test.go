package security

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/security"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// Bounds of a node that a crowd besieges.
const (
	mostMemory = 100 << 20 * memoryFactor // bytes
	mostFiles  = 500                      // 64 strangers at each of at most four sockets, the cluster's own connections, files of the log
)

// TestS7_ACrowdAtANode: silent connections, a thousand at one socket of each, floods, bytes that come slowly, greetings and certificates
// that are too large, and handshakes of strangers, at every socket of an input and a joiner. Sessions go through with the right answers,
// and no node takes much memory or many files.
func TestS7_ACrowdAtANode(t *testing.T) {
	d := generated(t, 3_000)
	sockets := temp.Sockets(t)
	for name, v := range map[string]topology.Variant{"tcp with keys": overTCP(), "unix": {IPCDir: sockets}} {
		t.Run(name, func(t *testing.T) {
			c := start(t, v)
			ctx := until(t)
			c.analyse(ctx, alice, d) // everybody is there
			over := make(chan struct{})
			var wg sync.WaitGroup
			for _, id := range []topology.NodeID{"input-1", "joiner-1"} {
				wg.Add(1)
				go func() {
					defer wg.Done()
					silent := 1000
					for _, e := range c.node(id).Sockets.List() {
						c.besiege(e, silent)
						silent = 200
					}
				}()
			}
			go func() { wg.Wait(); close(over) }()
			served, files := 0, 0
			for first := true; first || !closed(over); first = false {
				c.analyse(ctx, alice, d)
				served++
				for id := range c.procs {
					files = max(files, c.files(id))
				}
			}
			c.analyse(ctx, alice, d)
			largest := int64(0)
			for id := range c.procs {
				largest = max(largest, c.memory(id))
			}
			t.Logf("%d sessions were served meanwhile; at most %d MiB and %d files in a process", served, largest>>20, files)
			if largest > mostMemory {
				t.Errorf("a node took %d MiB", largest>>20)
			}
			if files > mostFiles {
				t.Errorf("a node had %d files open", files)
			}
		})
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// besiege does all that a crowd does at one socket.
func (c *cluster) besiege(e topology.NamedEndpoint, silent int) {
	hello := greeting()
	long := make([]byte, 256<<10) // one message in many records
	copy(long, []byte{1, 3, 0xff, 0xf0})
	var endless []byte
	for ; len(long) > 0; long = long[1<<10:] {
		endless = append(append(endless, 22, 3, 1, 4, 0), long[:1<<10]...)
	}
	oversized := certificate(c.t, 200_000)
	small := certificate(c.t, 0)
	in := 0
	for _, attack := range []struct {
		n  int
		do func(net.Conn)
	}{
		{silent, func(net.Conn) {}},
		{200, func(conn net.Conn) { _, _ = conn.Write(hello[:len(hello)/2]) }},
		{100, func(conn net.Conn) { _, _ = conn.Write(hello) }},
		{50, func(conn net.Conn) { _, _ = conn.Write(endless) }},
		{50, func(conn net.Conn) { _, _ = conn.Write([]byte{22, 3, 1, 0xff, 0xff}) }},
		{50, func(conn net.Conn) { _, _ = conn.Write([]byte("GET / HTTP/1.1\r\n\r\n")) }},
		{30, func(conn net.Conn) { shakeHands(conn, e.Kind, oversized) }},
		{100, func(conn net.Conn) { shakeHands(conn, e.Kind, small) }},
		{30, func(conn net.Conn) {
			for _, b := range hello {
				if _, err := conn.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(2 * time.Millisecond) // slowly
			}
		}},
	} {
		var wg sync.WaitGroup
		var held []net.Conn
		for range attack.n {
			conn, err := dial(e.Dial)
			if err != nil {
				continue // the backlog is full
			}
			in++
			held = append(held, conn)
			_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
			wg.Add(1)
			go func() {
				defer wg.Done()
				attack.do(conn)
			}()
		}
		wg.Wait()
		for _, conn := range held {
			_ = conn.Close()
		}
	}
	if in < silent {
		c.t.Errorf("only %d connections have reached the socket for %s at %s", in, e.Kind, e.Dial)
	}
}

func dial(endpoint string) (net.Conn, error) {
	if path, ok := strings.CutPrefix(endpoint, "ipc://"); ok {
		return net.DialTimeout("unix", path, time.Second)
	}
	return net.DialTimeout("tcp", strings.TrimPrefix(endpoint, "tcp://"), time.Second)
}

// greeting returns what a TLS client says first.
func greeting() []byte {
	client, server := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = tls.Client(client, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"posta/2/data"}}).Handshake()
	}()
	b := make([]byte, 5)
	_, _ = io.ReadFull(server, b)
	b = append(b, make([]byte, binary.BigEndian.Uint16(b[3:]))...)
	_, _ = io.ReadFull(server, b[5:])
	server.Close()
	<-done
	client.Close()
	return b
}

// certificate is that of somebody whom nobody knows, with so many bytes behind it.
func certificate(t *testing.T, more int) tls.Certificate {
	pair, err := security.NewClient("posta", "mallory", time.Now())
	if err != nil {
		t.Error(err)
		return tls.Certificate{}
	}
	all := [][]byte{pair.Certificate}
	if more > 0 {
		all = append(all, make([]byte, more))
	}
	return tls.Certificate{PrivateKey: pair.Key, Certificate: all}
}

func shakeHands(conn net.Conn, kind topology.Kind, with tls.Certificate) {
	client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"posta/2/" + string(kindOf[kind])},
		Certificates: []tls.Certificate{with}})
	if client.Handshake() == nil {
		_, _ = client.Read(make([]byte, 1)) // until it is refused
	}
}
