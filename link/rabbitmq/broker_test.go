//go:build brokers

package rabbitmq

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/bench/brokers"
	"posta.dev/posta/link"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/linktest"
	"posta.dev/posta/topology"
)

// server returns a RabbitMQ for the test.
func server(t *testing.T) *brokers.RabbitMQ {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	defer cancel()
	b, err := brokers.StartRabbitMQ(ctx, filepath.Join(t.TempDir(), "rabbitmq"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestSuite(t *testing.T) {
	b := server(t)
	for _, more := range []string{`queue = "classic"`, `queue = "quorum"`, `batch = "0B"`} {
		t.Run(more, func(t *testing.T) {
			settle := time.Duration(0)
			if strings.Contains(more, topology.QuorumQueue) {
				// RabbitMQ 3.10 itself loses a quorum queue for good if it is killed within the second in which the queue was declared.
				settle = 3 * time.Second
			}
			linktest.Subject{
				Transport: topology.ViaRabbitMQ,
				Sections:  "[rabbitmq]\nurl = \"" + b.URL() + "\"\n" + more,
				New: func(topo *topology.Topology, n topology.Node) (link.Transport, error) {
					return New(link.TransportConfig{Topology: topo, Node: n, Listen: n.Holds(topology.Input), Log: testLog()}, nil)
				},
				Settle: settle,
				Away: func() func() {
					b.Kill()
					return func() {
						ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
						defer cancel()
						if err := b.Start(ctx); err != nil {
							t.Fatal(err)
						}
					}
				},
			}.Run(t)
		})
	}
}

// testLog shows the log if a test fails.
func testLog() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

// awaitOne waits until one of several logs has said something.
func awaitOne(t *testing.T, what string, logs ...*await.Log) {
	t.Helper()
	if !await.Within(await.Patience, func() bool {
		return slices.ContainsFunc(logs, func(l *await.Log) bool { return strings.Contains(l.String(), what) })
	}) {
		t.Errorf("no log says %q: %v", what, logs)
	}
}

// TestTroubleIsExplained: what the broker refuses is logged once with what to do, and tried again.
func TestTroubleIsExplained(t *testing.T) {
	b := server(t)
	var last *Transport
	open := func(t *testing.T, url string) (*topology.Topology, *await.Log) {
		topo := topology.Default()
		topo.Name, topo.Transport, topo.Hosts[0].Address = "trouble", topology.ViaRabbitMQ, "ipc:"+t.TempDir()
		topo.Hosts[0].Bind, topo.RabbitMQ.URL = topo.Hosts[0].Address, url
		n, err := topo.Node("joiner-1")
		if err != nil {
			t.Fatal(err)
		}
		log := &await.Log{}
		tr, err := New(link.TransportConfig{Topology: topo, Node: n, Log: slog.New(slog.NewTextHandler(log, nil))}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tr.Close() })
		last = tr
		return topo, log
	}
	t.Run("wrong password", func(t *testing.T) {
		topo, log := open(t, strings.Replace(b.URL(), "guest:guest", "guest:secret", 1))
		log.Line(t, "correct user and password")
		if strings.Contains(log.String(), "secret") {
			t.Error("the log tells the password")
		}
		if trouble := last.Trouble(); !strings.Contains(trouble, "correct user and password") || strings.Contains(trouble, "secret") {
			t.Errorf("posta status would say %q", trouble)
		}
		err := Check(context.Background(), topo)
		if err == nil || !strings.Contains(err.Error(), "correct user and password") || strings.Contains(err.Error(), "secret") {
			t.Errorf("asked beforehand: %v", err)
		}
		right := *topo
		right.RabbitMQ.URL = b.URL()
		if err := Check(context.Background(), &right); err != nil {
			t.Error(err)
		}
	})
	t.Run("no such virtual host", func(t *testing.T) {
		_, log := open(t, b.URL()+"nowhere")
		log.Line(t, "there is no such virtual host")
	})
	t.Run("nobody there", func(t *testing.T) {
		_, log := open(t, "amqp://guest:guest@127.0.0.1:1/")
		log.Line(t, "start the broker, or correct the url")
	})
	t.Run("a queue of another kind", func(t *testing.T) {
		conn, err := amqp.Dial(b.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		other := topology.Default()
		other.RabbitMQ.Queue = topology.QuorumQueue
		name := queueOf("trouble", "joiner-aggregator-all", "joiner-1", "aggregator-2")
		if _, err := ch.QueueDeclare(name, true, false, false, false, arguments(other)); err != nil {
			t.Fatal(err)
		}
		topo, log := open(t, b.URL())
		log.Line(t, "its sender makes it again")
		awaitDeclared(t, conn, name, topo)
		ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
		defer cancel()
		if err := Remove(ctx, topo); err != nil {
			t.Fatal(err)
		}
		if err := Remove(ctx, topo); err != nil {
			t.Errorf("removed twice: %v", err)
		}
	})
	t.Run("a queue for other limits", func(t *testing.T) {
		conn, err := amqp.Dial(b.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		other := topology.Default()
		other.Limits.Window *= 2
		name := queueOf("trouble", "joiner-aggregator-all", "joiner-1", "aggregator-1")
		if _, err := ch.QueueDeclare(name, true, false, false, false, arguments(other)); err != nil {
			t.Fatal(err)
		}
		if err := ch.Publish("", name, false, false, amqp.Publishing{Body: []byte("of old")}); err != nil {
			t.Fatal(err)
		}
		topo, log := open(t, b.URL())
		log.Line(t, "for other limits for instance")
		awaitDeclared(t, conn, name, topo)
	})
	t.Run("a binding is lost", func(t *testing.T) {
		open(t, b.URL())
		conn, err := amqp.Dial(b.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		exchange := exchangeOf("trouble", "input-joiner-reference", "input-1")
		awaitRouted(t, conn, exchange, "made")
		ch, err := conn.Channel()
		if err == nil {
			err = ch.QueueUnbind(queueOf("trouble", "input-joiner-reference", "input-1", "joiner-1"), "", exchange, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		awaitRouted(t, conn, exchange, "made again")
	})
	t.Run("two clusters of one name", func(t *testing.T) {
		conn, err := amqp.Dial(b.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_, first := open(t, b.URL())
		awaitRouted(t, conn, exchangeOf("trouble", "input-joiner-reference", "input-1"), "made")
		_, second := open(t, b.URL())
		// Each of them has one connection for what comes in and one for what goes out. Which of the two comes first is the machine's affair.
		awaitOne(t, "in: nothing is lost", first, second)
		awaitOne(t, "give one of the two clusters another name", first, second)
	})
}

// awaitDeclared waits until a queue is declared as the topology says.
func awaitDeclared(t *testing.T, conn *amqp.Connection, name string, topo *topology.Topology) {
	t.Helper()
	for end := time.Now().Add(await.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		if _, err = ch.QueueDeclare(name, true, false, false, false, arguments(topo)); err == nil {
			return
		}
	}
	t.Error("the queue was not made again")
}

// awaitRouted waits until an exchange has a queue: a message that is published to it does not come back.
func awaitRouted(t *testing.T, conn *amqp.Connection, exchange, what string) {
	t.Helper()
	for end := time.Now().Add(await.Patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		returns := ch.NotifyReturn(make(chan amqp.Return, 1))
		closed := ch.NotifyClose(make(chan *amqp.Error, 1))
		confirms := ch.NotifyPublish(make(chan amqp.Confirmation, 1))
		if err = ch.Confirm(false); err == nil {
			err = ch.Publish(exchange, "", true, false, amqp.Publishing{Body: []byte("a test")})
		}
		if err == nil {
			select {
			case <-closed: // the exchange does not exist
			case <-confirms:
				_ = ch.Close() // a connection has 2047 channels at most
				select {
				case _, ok := <-returns:
					if !ok {
						return
					}
				default:
					return
				}
			}
		}
	}
	t.Errorf("the binding was not %s", what)
}
