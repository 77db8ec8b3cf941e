package e2e

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/topology"
)

// proxy stands between all nodes and their peers: it listens where they dial, and forwards to where they listen. It knows nothing of ZMTP:
// it cuts, delays and repeats bytes.
type proxy struct {
	calm   atomic.Bool // forwards everything unchanged
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu   sync.Mutex
	rand *rand.Rand

	conns, cuts, early, delays, twins, replays atomic.Int64
}

// startProxy serves a topology whose addresses and binds differ, until the test is over.
func startProxy(t *testing.T, topo *topology.Topology, seed uint64) *proxy {
	t.Helper()
	p := &proxy{rand: rand.New(rand.NewPCG(seed, 7))}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	t.Cleanup(func() { p.cancel(); p.wg.Wait() })
	for _, n := range topo.Nodes() {
		for _, e := range n.Sockets.List() {
			l, err := net.Listen("unix", strings.TrimPrefix(e.Dial, "ipc://"))
			if err != nil {
				t.Fatal(err)
			}
			p.wg.Add(2)
			go func() {
				defer p.wg.Done()
				<-p.ctx.Done()
				_ = l.Close() // it is no longer needed
			}()
			go p.accept(l, strings.TrimPrefix(e.Bind, "ipc://"), e.Kind)
		}
	}
	return p
}

func (p *proxy) accept(l net.Listener, to string, kind topology.Kind) {
	defer p.wg.Done()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		p.wg.Add(1)
		go func() {
			defer p.wg.Done()
			p.pass(c, to, p.fate(kind))
		}()
	}
}

// fate is what happens to a connection.
type fate struct {
	up, down int64 // bytes after which it is cut, each way
	slow     int   // one piece in so many is delayed; 0 for none
	rate     int64 // bytes per second; 0 for no limit
	twin     bool  // a second connection sends the same bytes at the same time
	replay   bool  // after the end, a new connection repeats the beginning
	seed     uint64
}

const never = 1 << 62

// fate draws what happens to a connection. A data connection lives for some hundred KiB; one in eight is cut within its handshake or the
// first header.
func (p *proxy) fate(kind topology.Kind) fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns.Add(1)
	f := fate{up: never, down: never, seed: p.rand.Uint64()}
	if p.calm.Load() {
		return f
	}
	mean := int64(400 << 10)
	if kind == topology.KindControl {
		mean = 60 << 10 // acknowledgements and heartbeats are small
	}
	life := func() int64 {
		if p.rand.IntN(8) == 0 {
			return p.rand.Int64N(130) // greeting, READY, the first headers
		}
		return p.rand.Int64N(2 * mean)
	}
	f.up, f.down = life(), life()
	if p.rand.IntN(2) == 0 {
		f.slow = 1 + p.rand.IntN(30)
	}
	if p.rand.IntN(4) == 0 {
		f.rate = 2<<20 + p.rand.Int64N(8<<20)
	}
	f.twin = p.rand.IntN(3) == 0
	f.replay = p.rand.IntN(3) == 0
	return f
}

// pass forwards one connection until it ends or is cut.
func (p *proxy) pass(client net.Conn, to string, f fate) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("unix", to)
	if err != nil {
		return // no process listens there, and the client will notice
	}
	defer func() { _ = server.Close() }()
	upward := io.Writer(server)
	if f.twin {
		if t := p.twin(to); t != nil {
			defer t.close()
			upward = io.MultiWriter(server, t)
		}
	}
	said := &beginning{}
	if f.replay {
		upward = io.MultiWriter(upward, said)
	}
	both := make(chan bool, 2)
	go func() { both <- p.pump(upward, client, f.up, f) }()
	go func() { both <- p.pump(client, server, f.down, f) }()
	stop := context.AfterFunc(p.ctx, func() { _ = client.Close(); _ = server.Close() })
	defer stop()
	cut := <-both
	_ = client.Close()
	_ = server.Close()
	cut = <-both || cut
	if cut {
		p.cuts.Add(1)
		if min(f.up, f.down) < 130 {
			p.early.Add(1)
		}
	}
	if f.replay {
		p.say(to, said.bytes)
	}
}

// pump forwards bytes in one direction; true if it stopped because the connection was to be cut there.
func (p *proxy) pump(to io.Writer, from io.Reader, limit int64, f fate) (cut bool) {
	r := rand.New(rand.NewPCG(f.seed, uint64(limit)))
	buf := make([]byte, 16<<10)
	for limit > 0 {
		n, err := from.Read(buf[:min(int64(len(buf)), limit)])
		limit -= int64(n)
		if f.slow > 0 && r.IntN(f.slow) == 0 {
			p.delays.Add(1)
			p.pause(time.Duration(r.IntN(12)) * time.Millisecond)
		}
		if f.rate > 0 {
			p.pause(time.Duration(int64(n) * int64(time.Second) / f.rate))
		}
		for at := 0; at < n; { // in pieces of other sizes than the sender's
			m := 1 + r.IntN(n-at)
			if _, err := to.Write(buf[at : at+m]); err != nil {
				return false
			}
			at += m
		}
		if err != nil || p.ctx.Err() != nil {
			return false
		}
	}
	return true
}

func (p *proxy) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-p.ctx.Done():
	}
}

// twin opens a second connection and sends it the same bytes. It discards the answer, and an error of this connection does not matter.
type twin struct {
	conn net.Conn
	wg   sync.WaitGroup
}

func (p *proxy) twin(to string) *twin {
	conn, err := net.Dial("unix", to)
	if err != nil {
		return nil
	}
	p.twins.Add(1)
	t := &twin{conn: conn}
	t.wg.Add(1)
	go func() {
		defer t.wg.Done()
		_, _ = io.Copy(io.Discard, conn) // ends with the connection
	}()
	return t
}

func (t *twin) Write(b []byte) (int, error) {
	// The twin waits no longer than the original may: back-pressure on the twin must not delay the original.
	_ = t.conn.SetWriteDeadline(time.Now().Add(5 * time.Millisecond))
	if _, err := t.conn.Write(b); err != nil {
		_ = t.conn.Close()
	}
	return len(b), nil
}

func (t *twin) close() {
	_ = t.conn.Close()
	t.wg.Wait()
}

// beginning keeps the first bytes of a connection.
type beginning struct{ bytes []byte }

func (b *beginning) Write(p []byte) (int, error) {
	const most = 512 << 10
	b.bytes = append(b.bytes, p[:min(len(p), most-len(b.bytes))]...)
	return len(p), nil
}

// say opens a connection after another one has ended, repeats what that one sent, and waits briefly for the node to read it.
func (p *proxy) say(to string, what []byte) {
	if len(what) == 0 || p.ctx.Err() != nil {
		return
	}
	t := p.twin(to)
	if t == nil {
		return
	}
	p.twins.Add(-1)
	p.replays.Add(1)
	defer t.close()
	_ = t.conn.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
	if _, err := t.conn.Write(what); err != nil && !errors.Is(err, net.ErrClosed) {
		return // the node has closed the connection, or does not read
	}
	p.pause(50 * time.Millisecond)
}
