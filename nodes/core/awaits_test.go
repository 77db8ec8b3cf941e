package core

import (
	"slices"
	"testing"
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// TestTick_AsksForTheEndsThatAreAwaited: at each step, an input asks the output of its own node about the sessions that the input holds. A
// step costs nothing if the input holds none, however many ended sessions the output keeps.
func TestTick_AsksForTheEndsThatAreAwaited(t *testing.T) {
	cfg, err := shape("gateway")
	if err != nil {
		t.Fatal(err)
	}
	g := newFakeGateway()
	cfg.Roles[0] = g
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0)
	for range 3 {
		c.Tick(now)
	}
	if g.listed > 0 || len(g.asked) > 0 {
		t.Errorf("nobody waits for a session, and all are listed %d times, and %v asked for", g.listed, g.asked)
	}
	g.awaits = []session.ID{{1}, {2}}
	c.Tick(now)
	if g.listed > 0 || !slices.Equal(g.asked, g.awaits) {
		t.Errorf("of %v it was asked for %v, and listed all %d times", g.awaits, g.asked, g.listed)
	}
	if c.Ended(); g.listed != 1 {
		t.Errorf("a heartbeat lists all %d times", g.listed)
	}
}

var _ role.EndReporter = (*fakeGateway)(nil)
