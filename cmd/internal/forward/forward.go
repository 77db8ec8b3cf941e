package forward

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/topology/rundir"
	"posta.dev/posta/zmqx"
)

const (
	// maxConnections is how many connections of programs may be open at a time. Each costs two file descriptors and 64 KiB.
	maxConnections = 256
	// buffer is what one direction of a connection holds, in bytes.
	buffer = 32 << 10
	// connectTime limits dialling a node and the TLS handshake together.
	connectTime = 10 * time.Second
	// keepAlive finds connections whose node went away without closing them.
	keepAlive = 15 * time.Second
	// longestPath is the longest address of a unix socket that fits on every system we know, in bytes.
	longestPath = 104
)

// Target is a socket of a node, and the unix socket where programs find it.
type Target struct {
	Name    string // name of the unix socket in the directory
	Address string // HOST:PORT of the node
	Peer    string // the identity that the node has to prove
	TLS     zmqx.TLS
}

// Forwarder holds the open sockets. Only programs of this user can connect to them.
type Forwarder struct {
	targets   []Target
	listeners []*net.UnixListener
	lock      *rundir.Lock
	slots     chan struct{} // one token for each connection
	report    func(error)

	mu       sync.Mutex
	reported map[string]string // by target: the last failure that was reported; removed when a connection succeeds
}

// Listen opens a socket for each target in a directory, and makes the directory if there is none. It calls report with the reason when a
// connection fails. If a target fails for the same reason again, it does not report that again. The caller must call Run, which closes
// everything.
func Listen(dir string, targets []Target, report func(error)) (f *Forwarder, err error) {
	f = &Forwarder{targets: targets, slots: make(chan struct{}, maxConnections), report: report, reported: map[string]string{}}
	if err := owned.Dir(dir); err != nil {
		return nil, fmt.Errorf("use the directory of the sockets: %w", err)
	}
	if f.lock, err = rundir.TakeLock(filepath.Join(dir, "connect.lock")); err != nil {
		return nil, fmt.Errorf("use the directory of the sockets: %w; another posta connect has it", err)
	}
	for _, t := range targets {
		l, err := listen(filepath.Join(dir, t.Name))
		if err != nil {
			return nil, errors.Join(err, f.close())
		}
		f.listeners = append(f.listeners, l)
	}
	return f, nil
}

// listen replaces a socket that a killed process has left behind. The lock shows that no process uses it.
func listen(path string) (*net.UnixListener, error) {
	if len(path) > longestPath {
		return nil, fmt.Errorf("listen at %s: the path has %d bytes, and that of a socket may have %d; give a shorter directory", path,
			len(path), longestPath)
	}
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSocket == 0 {
		return nil, fmt.Errorf("listen at %s: something that is not a socket is there; give another directory", path)
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listen at %s: %w", path, err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), l.Close())
	}
	return l, nil
}

// Run forwards until ctx ends, and closes everything.
func (f *Forwarder) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, l := range f.listeners {
		wg.Go(func() { f.accept(ctx, l, f.targets[i]) })
	}
	<-ctx.Done()
	return f.close()
}

// close ends the listeners, which remove their files.
func (f *Forwarder) close() error {
	var errs []error
	for _, l := range f.listeners {
		errs = append(errs, l.Close())
	}
	return errors.Join(append(errs, f.lock.Release())...)
}

func (f *Forwarder) accept(ctx context.Context, l *net.UnixListener, to Target) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		conn, err := l.AcceptUnix()
		if ctx.Err() != nil {
			if err == nil {
				_ = conn.Close()
			}
			return
		}
		if err != nil { // for instance if no file descriptors are left; some may become free
			f.failed(to, err)
			if !pause(ctx, 100*time.Millisecond) {
				return
			}
			continue
		}
		select {
		case f.slots <- struct{}{}:
			wg.Go(func() {
				f.serve(ctx, conn, to)
				<-f.slots
			})
		default:
			_ = conn.Close()
			f.failed(to, fmt.Errorf("%d connections are open, and there may be no more", maxConnections))
		}
	}
}

// pause waits for d. It returns false if ctx ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// serve carries one connection.
func (f *Forwarder) serve(ctx context.Context, from net.Conn, to Target) {
	defer func() { _ = from.Close() }()
	if err := zmqx.CheckOwner(from); err != nil {
		f.failed(to, err)
		return
	}
	up, err := dial(ctx, to)
	if err != nil {
		if ctx.Err() == nil {
			f.failed(to, err)
		}
		return
	}
	defer func() { _ = up.Close() }()
	stop := context.AfterFunc(ctx, func() { closeBoth(from, up) })
	defer stop()
	var back error
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer closeBoth(from, up)
		var n int64
		if n, back = io.CopyBuffer(only{from}, only{up}, make([]byte, buffer)); n > 0 {
			f.works(to)
		}
	}()
	_, _ = io.CopyBuffer(only{up}, only{from}, make([]byte, buffer))
	closeBoth(from, up)
	<-done
	var refused *net.OpError
	if errors.As(back, &refused) && refused.Op == "remote error" { // in TLS 1.3 a node refuses a client only after the handshake
		f.failed(to, fmt.Errorf("it does not accept your key for this: the key is not in [clients] of the cluster's topology, lacks the role, "+
			"was revoked or has expired; its log says which (%w)", back))
	}
}

// only hides the methods ReadFrom and WriteTo, which io.CopyBuffer would call instead of using its buffer.
type only struct{ io.ReadWriter }

func closeBoth(from, up net.Conn) {
	_ = from.Close()
	_ = up.Close()
}

// dial connects to the node that the target names. The handshake fails if another process answers.
func dial(ctx context.Context, to Target) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	config, err := to.TLS.Client(to.Peer)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{KeepAlive: keepAlive}).DialContext(ctx, "tcp", to.Address)
	if err != nil {
		return nil, err
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &stream{Conn: secured, beneath: conn}, nil
}

// stream closes the connection beneath TLS at once. The close message of TLS would wait for a peer that does not read.
type stream struct {
	*tls.Conn
	beneath net.Conn
}

func (s *stream) Close() error { return s.beneath.Close() }

func (f *Forwarder) works(to Target) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.reported, to.Name)
}

// failed reports a reason, unless it is the target's last reported one: programs dial again ten times a second.
func (f *Forwarder) failed(to Target, err error) {
	f.mu.Lock()
	again := f.reported[to.Name] == err.Error()
	f.reported[to.Name] = err.Error()
	f.mu.Unlock()
	if !again {
		f.report(fmt.Errorf("%s, %s at %s: %w", to.Name, to.Peer, to.Address, err))
	}
}
