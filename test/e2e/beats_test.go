package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/link/zmq"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// beats are the heartbeats of the nodes, received from their control sockets as a medic does.
type beats struct {
	t  *testing.T
	of []topology.NodeID

	mu   sync.Mutex
	last map[topology.NodeID]heard
	seen map[topology.NodeID]map[heartbeat.State]int
}

type heard struct {
	heartbeat.Beat
	at time.Time
}

// listen subscribes to the heartbeats of all nodes until the test is over.
func (c *cluster) listen() *beats {
	c.t.Helper()
	b := &beats{t: c.t, of: c.ids(), last: map[topology.NodeID]heard{}, seen: map[topology.NodeID]map[heartbeat.State]int{}}
	sub, err := zmqx.NewSub(zmqx.Options{BackoffMax: 100 * time.Millisecond})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := sub.Subscribe(zmq.BeatTopic); err != nil {
		c.t.Fatal(err)
	}
	for _, n := range c.topo.Nodes() {
		if _, err := sub.Connect(n.Sockets.Control.Dial); err != nil {
			c.t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for batch := range sub.C() {
			for _, r := range batch {
				b.take(r)
			}
		}
	}()
	c.t.Cleanup(func() {
		if err := sub.Close(); err != nil {
			c.t.Error(err)
		}
		<-done
	})
	return b
}

// take notes a heartbeat. One that cannot be decoded comes from a stranger, as in TestHostile, and is not counted.
func (b *beats) take(r zmqx.Received) {
	if len(r.Msg) != 2 {
		return
	}
	beat, err := heartbeat.Decode(r.Msg[1])
	if err != nil || !slices.Contains(b.of, beat.Node) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last[beat.Node] = heard{beat, time.Now()}
	if b.seen[beat.Node] == nil {
		b.seen[beat.Node] = map[heartbeat.State]int{}
	}
	b.seen[beat.Node][beat.State]++
}

// said returns how often a node has reported a state.
func (b *beats) said(id topology.NodeID, s heartbeat.State) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen[id][s]
}

// await waits until ok has accepted a new heartbeat of every node.
func (b *beats) await(what string, ok func(heartbeat.Beat) bool) {
	b.t.Helper()
	b.awaitOf(b.of, what, ok)
}

func (b *beats) awaitOf(of []topology.NodeID, what string, ok func(heartbeat.Beat) bool) {
	b.t.Helper()
	begin := time.Now()
	var missing []string
	if await.Within(patience, func() bool {
		missing = b.missing(of, begin, ok)
		return len(missing) == 0
	}) {
		return
	}
	b.t.Errorf("within %s not every node: %s. Not %s", patience, what, strings.Join(missing, "; "))
}

func (b *beats) missing(of []topology.NodeID, since time.Time, ok func(heartbeat.Beat) bool) (all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range of {
		if h := b.last[id]; !h.at.After(since) || !ok(h.Beat) {
			all = append(all, fmt.Sprintf("%s (%s, %d sessions, %d running, log of %d KiB, heard %s ago)",
				id, h.State, h.Sessions, h.Running, h.LogBytes>>10, time.Since(h.at).Round(time.Millisecond)))
		}
	}
	return all
}

type beat = heartbeat.Beat

// idle is a node that holds no session.
func idle(b heartbeat.Beat) bool { return b.Sessions == 0 && b.Running == 0 }
