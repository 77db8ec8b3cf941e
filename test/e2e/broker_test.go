package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/topology"
)

// broker is what the tests need from a real broker.
type broker interface {
	Start(context.Context) error
	Kill()
	Signal(syscall.Signal) error
	Close() error
}

// brokerKind is a transport over a broker, with one of its settings.
type brokerKind struct {
	name     string
	start    func(*testing.T) (broker, map[string]string) // with the settings of the topology for this broker
	settings map[string]string                            // further settings of the topology
}

// brokerKinds are the brokers that need no installation; -tags brokers adds more.
var brokerKinds = []brokerKind{
	{name: "nats", start: startNATS("default")},
	{name: "nats sync always", start: startNATS("always")},
}

var clusterNames atomic.Int64

// variant returns the topology over the broker. Its cluster has a name of its own, because queues outlive clusters.
func (k brokerKind) variant(v topology.Variant, settings map[string]string) topology.Variant {
	v.Name = fmt.Sprintf("e2e-%d", clusterNames.Add(1))
	v.Settings = map[string]string{"medics.replicas": "0"}
	for _, more := range []map[string]string{settings, k.settings} {
		for key, value := range more {
			v.Settings[key] = value
		}
	}
	return v
}

// TestBrokers: the same nodes over each broker give the same answers, with all analyses at once on one cluster. Meanwhile nodes of every
// kind and the broker are killed and paused.
func TestBrokers(t *testing.T) {
	beside(t)
	rows := map[string]int{"bikes": 100_000, "flights": 30_000, "movies": 30_000, "memes": 60_000}
	var all []*dataset
	for _, name := range []string{"bikes", "flights", "movies", "memes"} {
		all = append(all, generatedFor(t, name, rows[name]))
	}
	faults := 12
	if *long {
		faults = 40
	}
	for i, k := range brokerKinds {
		if k.name == "nats sync always" && !*long && !raced {
			continue // the same server, which only writes in another way
		}
		t.Run(k.name, func(t *testing.T) {
			b, settings := k.start(t)
			v := k.variant(twoOfEach(), settings)
			v.SplitParsers = i%2 == 1 // then raw chunks cross the broker
			c := start(t, v)
			for _, d := range all {
				d.check(t, c.analyse(deadline(t), d.dir, d.config))
			}
			if t.Failed() {
				return
			}
			n := -1
			c.storm(all, faults, 300*time.Millisecond, uint64(41+i), func(r *rand.Rand, id topology.NodeID) {
				n++
				switch n % 6 {
				case 3:
					b.Kill()
					time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
					if err := b.Start(deadline(t)); err != nil {
						t.Error(err)
					}
				case 4:
					c.pause(r, id)
				case 5:
					_ = b.Signal(syscall.SIGSTOP)
					time.Sleep(time.Duration(50+r.IntN(600)) * time.Millisecond)
					_ = b.Signal(syscall.SIGCONT)
				default:
					ids := c.ids() // one after the other, so that every kind of node is killed
					c.signal(ids[n%len(ids)], syscall.SIGKILL)
				}
			})
		})
	}
}
