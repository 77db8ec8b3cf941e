package cmd

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/security"
)

// listener accepts connections, sends a greeting and closes them, until the test ends.
func listener(t *testing.T, greet func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			greet(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); done.Wait() })
	return l.Addr().String()
}

// TestS3_AClientWithoutAKeyGetsTheReason: a node with keys closes a plain connection, and the command says that the cluster has keys
// and how to get one. A process that closes connections for another reason is not taken for a node with keys.
func TestS3_AClientWithoutAKeyGetsTheReason(t *testing.T) {
	k := newTestKeys(t)
	k.must("init")
	keys, err := security.Load(k.at("node", "input-1"), "posta", nil)
	if err != nil {
		t.Fatal(err)
	}
	serve := func(kind security.Kind) func(net.Conn) {
		s := keys.Socket(kind, func(security.Identity) error { return nil })
		return func(conn net.Conn) { _ = tls.Server(conn, s.Server()).Handshake() }
	}
	keyed := listener(t, serve(security.ClientAPI))
	for name, c := range map[string]struct {
		entry string
		keyed bool
	}{
		"a node with keys":           {"tcp://" + keyed, true},
		"a node with keys, by name":  {"tcp://input-1@" + keyed, true},
		"another socket of a node":   {"tcp://" + listener(t, serve(security.Data)), false},
		"a port that closes at once": {"tcp://" + listener(t, func(net.Conn) {}), false},
		"nobody":                     {"tcp://127.0.0.1:1", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := posta(t, "sessions", "-e", c.entry, "--patience", "100ms")
			told := strings.Contains(r.err, "lets in only clients that have a key")
			for _, advice := range []string{"posta key new NAME --role submit", "--key DIR", "POSTA_KEY"} {
				told = told && strings.Contains(r.err, advice)
			}
			if r.code != exit.NoCluster || told != c.keyed || told == strings.Contains(r.err, "posta up") {
				t.Errorf("%d: %s", r.code, r.err)
			}
		})
	}
	x := &command{Call: &call.Call{Plain: call.Plain{Entries: []string{"ipc:///nowhere", "tcp://" + keyed}, Cluster: "posta",
		Looked: "/home/me/keys"}}}
	err = reach.ExplainMissingKey(x.Call, context.Background(), exit.ErrNothingAnswers)
	if !errors.Is(err, exit.ErrNothingAnswers) || !strings.Contains(err.Error(), "cluster posta runs") ||
		!strings.Contains(err.Error(), "none in /home/me/keys") {
		t.Errorf("with a topology: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, same := range []error{client.ErrNoCluster, exit.ErrInterrupted} {
		if got := reach.ExplainMissingKey(x.Call, ended, same); got != same {
			t.Errorf("%v became %v", same, got)
		}
	}
}
