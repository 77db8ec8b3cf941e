package forward

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/security"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/zmqx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// cluster has the keys of a node and of alice, who may submit, and the keys of bob, who has no line in [clients].
type cluster struct {
	t                *testing.T
	root             string
	node, alice, bob *security.Keys
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, root: t.TempDir()}
	ca, err := security.NewCA("posta", time.Now())
	noError(t, err)
	clients := security.Clients{}
	load := func(name string, p security.Pair, err error) *security.Keys {
		t.Helper()
		noError(t, err)
		dir := filepath.Join(c.root, name)
		noError(t, security.WritePair(dir, p))
		noError(t, security.WriteCAs(dir, ca.Certificate()))
		keys, err := security.Load(dir, "posta", clients)
		noError(t, err)
		return keys
	}
	alice, err := security.NewClient("posta", "alice", time.Now())
	clients[alice.Key.Fingerprint()] = security.Identity{Role: security.Submit, Name: "alice"}
	c.alice = load("alice", alice, err)
	bob, err := security.NewClient("posta", "bob", time.Now())
	c.bob = load("bob", bob, err)
	node, err := ca.Issue(security.Identity{Role: security.Node, Name: "input-1"}, time.Now())
	c.node = load("input-1", node, err)
	return c
}

// serve answers each request with the client's name and the request's text, until the test ends.
func (c *cluster) serve() (address string) {
	c.t.Helper()
	r, err := zmqx.NewRouter(zmqx.Options{TLS: c.node.Socket(security.ClientAPI, anyone)})
	noError(c.t, err)
	at, err := r.Listen("tcp://127.0.0.1:0")
	noError(c.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			batch, err := r.Recv(ctx)
			if err != nil {
				return
			}
			for _, m := range batch {
				_ = r.Send(m.Peer, zmqx.Message{nil, []byte(m.From + " " + string(m.Msg[len(m.Msg)-1]))})
			}
		}
	}()
	c.t.Cleanup(func() {
		cancel()
		<-done
		noError(c.t, r.Close())
	})
	return strings.TrimPrefix(at, "tcp://")
}

// forward starts a forwarder, and returns its directory and its messages.
func (c *cluster) forward(keys *security.Keys, address, peer string) (dir string, reports func() string) {
	c.t.Helper()
	base := temp.Sockets(c.t)
	dir = filepath.Join(base, "sockets")
	var mu sync.Mutex
	var told []string
	f, err := Listen(dir, []Target{{Name: "input-1.client", Address: address, Peer: peer, TLS: keys.Socket(security.ClientAPI, nil)}},
		func(err error) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, err.Error())
		})
	noError(c.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	c.t.Cleanup(func() {
		cancel()
		noError(c.t, <-done)
		noError(c.t, os.RemoveAll(base))
	})
	return dir, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(told, "\n")
	}
}

func request(t *testing.T, dir string) (*zmqx.Req, func(text string, within time.Duration) (string, error)) {
	t.Helper()
	req, err := zmqx.NewReq(zmqx.Options{})
	noError(t, err)
	t.Cleanup(func() { noError(t, req.Close()) })
	noError(t, req.Connect("ipc://"+filepath.Join(dir, "input-1.client")))
	return req, func(text string, within time.Duration) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		m, err := req.Do(ctx, zmqx.Message{[]byte(text)})
		if err != nil {
			return "", err
		}
		return string(m[0]), nil
	}
}

// TestS4_PlainProgramsReachAClusterWithKeys: many plain REQ sockets send small and large messages at once, and each gets its own answers.
func TestS4_PlainProgramsReachAClusterWithKeys(t *testing.T) {
	c := newCluster(t)
	dir, _ := c.forward(c.alice, c.serve(), "node/input-1")
	for path, want := range map[string]os.FileMode{dir: os.ModeDir | 0o700, filepath.Join(dir, "input-1.client"): os.ModeSocket | 0o600} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s has the mode %v, %v", path, info.Mode(), err)
		}
	}
	var wg sync.WaitGroup
	for i := range 20 {
		_, ask := request(t, dir)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range 5 {
				text := strings.Repeat(fmt.Sprintf("%d.%d ", i, k), 1+k*50_000)
				if got, err := ask(text, time.Minute); err != nil || got != "client/alice "+text && got != "submit/alice "+text {
					t.Errorf("%d.%d is answered with %.40q, %v", i, k, got, err)
				}
			}
		}()
	}
	wg.Wait()
}

// TestS4_WhoIsNotForwarded: a key that is not in [clients], a node with another name, and a node that does not run. The
// program waits, and the user gets a message.
func TestS4_WhoIsNotForwarded(t *testing.T) {
	c := newCluster(t)
	address := c.serve()
	for name, k := range map[string]struct {
		keys    *security.Keys
		address string
		peer    string
		want    string
	}{
		"a key that nobody let in": {c.bob, address, "node/input-1", "input-1.client"},
		"another node":             {c.alice, address, "node/input-2", "node/input-2 was dialled"},
		"nobody there":             {c.alice, "127.0.0.1:1", "node/input-1", "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, reports := c.forward(k.keys, k.address, k.peer)
			_, ask := request(t, dir)
			if got, err := ask("hello", 500*time.Millisecond); err == nil {
				t.Errorf("answered with %q", got)
			}
			if name == "a key that nobody let in" {
				return // the node's message may get lost with the connection
			}
			await.Until(t, "reported is "+k.want, func() bool { return strings.Contains(reports(), k.want) })
		})
	}
}

// TestS4_ADirectoryHasOneForwarder: a forwarder takes over the sockets of one that was killed, and no others.
func TestS4_ADirectoryHasOneForwarder(t *testing.T) {
	c := newCluster(t)
	address := c.serve()
	dir, _ := c.forward(c.alice, address, "node/input-1")
	target := Target{Name: "other.client", Address: address, Peer: "node/input-1", TLS: c.alice.Socket(security.ClientAPI, nil)}
	if _, err := Listen(dir, []Target{target}, func(error) {}); err == nil {
		t.Error("two have one directory")
	}
	own := filepath.Join(filepath.Dir(dir), "own")
	noError(t, os.Mkdir(own, 0o700))
	noError(t, os.WriteFile(filepath.Join(own, target.Name), nil, 0o600))
	if _, err := Listen(own, []Target{target}, func(error) {}); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file where the socket is to be: %v", err)
	}
}

// anyone admits every peer that has proven its name.
func anyone(security.Identity) error { return nil }
