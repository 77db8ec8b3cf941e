package e2e

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/client"
)

// TestR16_FewFileDescriptors gives each node 40 file descriptors, and each of its sockets 32 connections that completed
// the handshake and stay silent. They used to take the descriptors that the node needs for its next snapshot, and the
// node restarted. Now it closes such connections, and logs it.
func TestR16_FewFileDescriptors(t *testing.T) {
	d := generated(t, 200_000)
	t.Setenv(envFiles, "40")
	c := start(t, tight())
	ctx := deadline(t)
	r := c.begin(ctx, client.Config{Find: slowly(d.dir, 4<<20), Chunk: 16 << 10})
	until(t, "facts are on their way", func() bool { return r.acked("trips") > 10_000 })
	for _, n := range c.topo.Nodes() {
		for _, e := range n.Sockets.List() {
			a := &attacker{endpoint: e.Dial, kind: e.Kind, r: rand.New(rand.NewPCG(1, 1))}
			defer a.release()
			a.guests(32, "", func(int) []byte { return nil }, true)
			if a.in < 10 {
				t.Errorf("only %d guests were let in at %s", a.in, e.Dial)
			}
		}
	}
	d.check(t, r.answer())
	d.check(t, c.analyse(ctx, d.dir, nil))
	c.noUnexpectedExits()
	for _, id := range c.ids() {
		log, err := os.ReadFile(filepath.Join(c.dir, string(id)+".log"))
		if err != nil || !strings.Contains(string(log), "ulimit -n") {
			t.Errorf("%s says nothing of its guests: %v\n%s", id, err, log)
		}
		if strings.Contains(string(log), "too many open files") {
			t.Errorf("%s ran out of descriptors:\n%s", id, log)
		}
	}
}
