package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// TestSessions_OthersSeeHowFarTheyAre: while a client sends files, each input tells everybody how much of them is read, and how long the
// rest takes. Of a client that does not know the size of its files, no input tells anything. An input that was killed knows it again from
// the next ping.
func TestSessions_OthersSeeHowFarTheyAre(t *testing.T) {
	d := generated(t, 60_000)
	c := start(t, topology.Variant{Replicas: map[string]int{"input": 2}})
	heard := c.listen()
	ctx := deadline(t)
	enough := make(chan struct{})
	find := slowlyUntil(d.dir, 16<<10, enough)
	sized := func(s protocol.Stream) ([]client.Source, error) {
		all, err := find(s)
		for i := range all {
			info, err := os.Stat(filepath.Join(d.dir, all[i].Name))
			if err != nil {
				return nil, err
			}
			all[i].Size = info.Size()
		}
		return all, err
	}
	known, unknown := session.New(), session.New()
	a := c.begin(ctx, client.Config{Session: known, Find: sized, Chunk: 4 << 10})
	b := c.begin(ctx, client.Config{Session: unknown, Find: find, Chunk: 4 << 10})
	var watcher *client.Client
	var err error
	until(t, "a node tells the watcher of the others", func() bool { // which gives up soon, since it is to ask an input that is killed
		watcher, err = client.Dial(ctx, client.Config{Entries: c.topo.EntryPoints(), Force: true, Timeout: time.Second, GiveUpAfter: time.Second})
		return err == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := watcher.Close(); err != nil {
			t.Error(err)
		}
	}()
	told := func() (inputs int) {
		all, _ := watcher.Sessions(ctx) // a node that is down does not answer, and is not counted below
		for _, s := range all {
			switch {
			case s.Session == unknown && s.FilesSize > 0:
				t.Errorf("%s tells the size of files that nobody knows: %+v", s.Node, s)
			case s.Session == known && s.FilesRead > s.FilesSize:
				t.Errorf("%s tells that more is read than there is: %+v", s.Node, s)
			case s.Session == known && s.FilesRead > 0 && s.FilesLeft > 0:
				inputs++
			}
		}
		return inputs
	}
	until(t, "both inputs tell it", func() bool { return told() == 2 })
	c.signal("input-1", syscall.SIGKILL)
	heard.awaitOf([]topology.NodeID{"input-1"}, "it has started again", func(h beat) bool { return h.ID.Incarnation == 2 })
	until(t, "both inputs tell it again", func() bool { return told() == 2 })
	close(enough)
	d.check(t, a.answer())
	d.check(t, b.answer())
}
