package client

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/zmqx"
)

// fakeNode is a ROUTER in front of the fake cluster. Tests can stop it, and start it again at the same endpoint.
type fakeNode struct {
	name     string
	endpoint string
	cluster  *fakeCluster
	tls      zmqx.TLS         // nil: plain
	seen     map[[32]byte]int // owned by the loop; kept across restarts

	router *zmqx.Router
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func newFakeNode(f *fakeCluster, name string, tls zmqx.TLS) *fakeNode {
	n := &fakeNode{name: name, cluster: f, endpoint: "tcp://127.0.0.1:0", tls: tls, seen: make(map[[32]byte]int)}
	n.start()
	return n
}

func (n *fakeNode) start() {
	var err error
	if n.router, err = zmqx.NewRouter(zmqx.Options{TLS: n.tls}); err != nil {
		n.cluster.t.Fatal(err)
	}
	for try := 0; ; try++ {
		if n.endpoint, err = listen(n.router, n.endpoint); err == nil {
			break
		}
		if try == 100 {
			n.cluster.t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.wg.Add(1)
	go n.loop()
}

func listen(r *zmqx.Router, endpoint string) (string, error) {
	actual, err := r.Listen(endpoint)
	if err != nil {
		return endpoint, err
	}
	return actual, nil
}

func (n *fakeNode) stop() {
	n.cancel()
	n.wg.Wait()
	n.cluster.check(n.router.Close())
}

func (n *fakeNode) restart() {
	n.stop()
	n.start()
}

func (n *fakeNode) loop() {
	defer n.wg.Done()
	for {
		batch, err := n.router.Recv(n.ctx)
		if err != nil {
			return
		}
		for _, r := range batch {
			n.serve(r)
		}
	}
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (n *fakeNode) serve(r zmqx.Received) {
	if len(r.Msg) != 2 || len(r.Msg[0]) > 0 {
		n.cluster.t.Errorf("a request of %d parts", len(r.Msg))
		return
	}
	q, err := protocol.DecodeRequest(r.Msg[1])
	if err != nil {
		n.cluster.t.Errorf("%s: %v", n.name, err)
		return
	}
	var f fault
	n.cluster.mu.Lock()
	choose := n.cluster.fault
	n.cluster.mu.Unlock()
	if choose != nil {
		sum := sha256.Sum256(r.Msg[1])
		f = choose(heard{node: n.name, request: q, before: n.seen[sum]})
		n.seen[sum]++
	}
	if f.deaf {
		return
	}
	reply := n.cluster.answer(n, q)
	if f.mute {
		return
	}
	times := 1
	if f.twice {
		times = 2
	}
	n.wg.Add(1)
	go func() {
		defer n.wg.Done()
		sleep(n.ctx, f.delay)
		for range times {
			// A client that has given up is gone, as it may be.
			_ = n.router.Send(r.Peer, zmqx.Message{nil, reply.Append(nil)})
		}
	}()
}
