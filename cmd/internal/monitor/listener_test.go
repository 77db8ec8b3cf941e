package monitor

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// control returns a node's control socket that says what it is told to.
func control(t *testing.T, endpoint string) *zmqx.Pub {
	t.Helper()
	pub, err := zmqx.NewPub(zmqx.Options{})
	if err == nil {
		_, err = pub.Listen(endpoint)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pub
}

func TestListenerHearsBeatsAndNothingElse(t *testing.T) {
	endpoint := "ipc://" + filepath.Join(t.TempDir(), "a-1.control")
	node := topology.Node{ID: "a-1", Sockets: topology.Sockets{Control: topology.Endpoint{Dial: endpoint, Bind: endpoint}}}
	l, err := ListenToNodes([]topology.Node{node}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	// The node starts after its listener, as in a cluster that is being started.
	pub := control(t, endpoint)
	defer func() { _ = pub.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	good := beat("a-1", 7, 1)
	view, err := l.Until(ctx, func(view []Status) (bool, error) {
		for _, m := range []zmqx.Message{
			{[]byte("H"), []byte("no heartbeat")}, {[]byte("H")}, {[]byte("Hello"), good.Append(nil)}, {[]byte("A"), good.Append(nil)},
			{[]byte("H"), good.Append(nil)},
		} {
			if err := pub.Send(m); err != nil {
				return false, err
			}
		}
		return view[0].Heard, nil
	})
	if err != nil || view[0].Beat.ID.Incarnation != 7 {
		t.Fatalf("heard %+v, %v", view, err)
	}
}

func TestUntilEndsWithItsContextOrAnError(t *testing.T) {
	l, err := ListenToNodes(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	why, enough := errors.New("why"), errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	if _, err := l.Until(ctx, func([]Status) (bool, error) { return false, nil }); !errors.Is(err, why) {
		t.Errorf("it ended with %v", err)
	}
	if _, err := l.Until(context.Background(), func([]Status) (bool, error) { return false, enough }); !errors.Is(err, enough) {
		t.Errorf("it ended with %v", err)
	}
}

func TestAnEndpointThatIsNone(t *testing.T) {
	node := topology.Node{ID: "a-1", Sockets: topology.Sockets{Control: topology.Endpoint{Dial: "rdma://x"}}}
	if l, err := ListenToNodes([]topology.Node{node}, nil); err == nil {
		_ = l.Close()
		t.Fatal("it listens to rdma://x")
	}
}
