package medics

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/test/e2e/clustertest"
)

// TestW2_MedicsLeaveADamagedNodeAlone: a node dies, and its log is damaged when medics start it again. The node reports
// the damage and is not restarted again, however long it waits. The next session is refused with the command that
// repairs the log. After the repair the node continues in the same process.
func TestW2_MedicsLeaveADamagedNodeAlone(t *testing.T) {
	const id, stuckAfter = "joiner-1", 2 * time.Second
	o := orders{dir: t.TempDir()}
	t.Setenv(ordersVar, o.dir)
	c := up(t, map[string]string{"medics.stuck_after": stuckAfter.String()})
	bikes := clustertest.Bikes(t, 2000).Dir
	c.compare("bikes", bikes, 0) // so that there is something in its log
	data, since, generation := filepath.Join(c.topo.DataDir, id), time.Now(), c.Generation()
	if _, err := o.give(id, order{Do: spoil, Dir: data}); err != nil {
		t.Fatal(err)
	}
	c.signal(id, syscall.SIGKILL)
	damaged := func(b heartbeat.Beat) bool {
		return b.State == heartbeat.Damaged && strings.HasSuffix(b.Trouble, "run: posta log repair "+data)
	}
	c.Until("it says that its log is damaged", func() bool { return damaged(c.Beat(id)) })
	pid := c.Beat(id).PID
	leftAlone := func(when string) {
		t.Helper()
		if all := c.Incidents(since); len(all) != 1 || all[0].Node != id || all[0].Restarts != 1 || all[0].Open || c.Generation() != generation {
			t.Errorf("%s the journal reports %+v, generation %d", when, all, c.Generation())
		}
		if b := c.Beat(id); b.PID != pid || c.pid(id) != pid {
			t.Errorf("%s it is process %d, its pid file says %d, and it was %d", when, b.PID, c.pid(id), pid)
		}
	}
	// Longer than every timeout after which medics restart a node.
	long := c.topo.Medics.SuspectAfter + 3*stuckAfter
	c.Until("it has been damaged for long", func() bool { b := c.Beat(id); return b.PID != pid || b.Uptime > long })
	leftAlone("while it is damaged")
	if b := c.Beat(id); !damaged(b) {
		t.Errorf("nobody has repaired its log, and it says %+v", b)
	}
	if _, err := c.run(client.Config{Analysis: "bikes", Dir: bikes}); err == nil || !strings.Contains(err.Error(), "posta log repair "+data) {
		t.Errorf("a session ends with %v", err)
	}
	if out, err := exec.Command(os.Args[0], "log", "repair", data).CombinedOutput(); err != nil {
		t.Fatalf("posta log repair: %v: %s", err, out)
	}
	c.Until("it works again", func() bool { return c.Beat(id).State == heartbeat.Running })
	c.Until("a session is begun", func() bool { _, err := c.run(client.Config{Analysis: "bikes", Dir: bikes}); return err == nil })
	c.compare("bikes", bikes, 0)
	leftAlone("once it is repaired")
}
