package nodes_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/link/control"
	"posta.dev/posta/nodes/lastlog"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
)

// A node tells the last lines of its log to those who ask, even while it opens its log, and to nobody who asks another node.
func TestANodeTellsTheLastLinesOfItsLog(t *testing.T) {
	const id = "joiner-1"
	c := start(t, topology.Variant{})
	if err := c.stops[id](); err != nil {
		t.Fatal(err)
	}
	disk := haltingDisk{wal.Unsynced, make(chan struct{}), make(chan struct{})}
	openOn := sync.OnceFunc(func() { close(disk.before); close(disk.behind) })
	t.Cleanup(openOn)
	c.runOn(id, disk)
	sub := c.subscriber(id)
	ask := func(node string) {
		t.Helper()
		if err := sub.Subscribe(control.LinesTopic(link.NodeID(node))); err != nil {
			t.Fatal(err)
		}
	}
	await := func() []lastlog.Line {
		t.Helper()
		select {
		case batch := <-sub.C():
			for _, r := range batch {
				if string(r.Msg[0]) != control.LinesTopic(id) {
					t.Fatalf("got %q", r.Msg)
				}
			}
			lines, err := lastlog.Decode(batch[len(batch)-1].Msg[1])
			if err != nil {
				t.Fatal(err)
			}
			return lines
		case <-time.After(time.Minute):
			t.Fatal("no answer")
		}
		return nil
	}
	ask("joiner")
	ask("joiner-11")
	ask("joiner-2")
	ask(id)
	if lines := await(); len(lines) != 0 {
		t.Errorf("a node that opens its log has said %+v", lines)
	}
	openOn()
	for {
		ask(id)
		lines := await()
		if len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1].Text, "msg=running node="+id) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
}
