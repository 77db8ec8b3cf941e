package docker

import (
	"context"
	"errors"
	"sync"
	"testing"

	"posta.dev/posta/medic"
	"posta.dev/posta/test/await"
)

// watching runs a watch until the test ends.
func watching(t *testing.T, f *fake, r *Restarter) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { defer wg.Done(); r.Watch(ctx) }()
	t.Cleanup(func() { cancel(); wg.Wait() })
	await.Until(t, "it listens", func() bool { return f.listening() == 1 })
}

// sees waits until the watch reports a process, or none.
func sees(t *testing.T, r *Restarter, node medic.NodeID, pid func() int) {
	t.Helper()
	await.Until(t, "it is seen", func() bool {
		got, err := r.Seen().Pid(node)
		return err == nil && got == pid()
	})
}

func TestEndsAreSeenAndLivesDistinguished(t *testing.T) {
	f, r := newEngineOf(t, short)
	c := f.has("c1", "a-1")
	pid := func() int { f.mu.Lock(); defer f.mu.Unlock(); return c.pid }
	if _, err := r.Seen().Pid("a-1"); !errors.Is(err, errUnseen) {
		t.Errorf("before it looks: %v", err)
	}
	watching(t, f, r)
	sees(t, r, "a-1", pid)
	f.die(c, 1)
	sees(t, r, "a-1", func() int { return 0 })
	f.with(c, func() { f.startLocked(c) })
	sees(t, r, "a-1", pid)
	if _, err := r.Seen().Pid("b-1"); !errors.Is(err, errUnseen) {
		t.Errorf("a stranger: %v", err)
	}
}

func TestAStreamThatIsCutIsOpenedAgain(t *testing.T) {
	f, r := newEngineOf(t, short)
	c := f.has("c1", "a-1")
	watching(t, f, r)
	sees(t, r, "a-1", func() int { return c.pid })
	f.meets("events", trouble{status: 500}, trouble{hang: true}, trouble{cut: true})
	f.cutEvents()
	f.die(c, 1) // no client hears it
	await.Until(t, "it listens again", func() bool { return f.listening() == 1 })
	sees(t, r, "a-1", func() int { return 0 })
}

// After a lost event a living container must not be taken for dead.
func TestALostEventIsFoundOut(t *testing.T) {
	f, r := newEngineOf(t, short)
	c := f.has("c1", "a-1")
	watching(t, f, r)
	f.die(c, 1)
	sees(t, r, "a-1", func() int { return 0 })
	f.with(c, func() { c.running, c.pid = true, 4711 })
	sees(t, r, "a-1", func() int { return 4711 })
}

func TestAnEngineThatDoesNotAnswerGivesNoHints(t *testing.T) {
	f, r := newEngineOf(t, short)
	c := f.has("c1", "a-1")
	watching(t, f, r)
	f.die(c, 1)
	sees(t, r, "a-1", func() int { return 0 })
	f.meets("events", trouble{hang: true})
	f.cutEvents()
	await.Until(t, "it is not believed any more", func() bool {
		_, err := r.Seen().Pid("a-1")
		return errors.Is(err, errUnseen)
	})
}
