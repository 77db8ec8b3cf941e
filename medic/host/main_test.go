package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
)

// holderVar is the environment variable that makes the test binary a process that takes a host's lock and hangs.
const holderVar = "POSTA_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holderVar); dir != "" {
		h, err := Open(dir, "local", "a-1", nil)
		if err == nil {
			_, err = h.lock(context.Background())
		}
		fmt.Println("holding", err)
		time.Sleep(time.Hour)
	}
	goleak.VerifyTestMain(m)
}

// fake is a Restarter whose processes are numbers.
type fake struct {
	mu    sync.Mutex
	next  int
	alive map[core.NodeID]int
	did   []string
	fail  error // of the next start
	kill  func(core.NodeID)
	look  time.Duration // how long Alive takes
}

func newFake() *fake { return &fake{next: 100, alive: map[core.NodeID]int{}} }

func (f *fake) note(format string, args ...any) { f.did = append(f.did, fmt.Sprintf(format, args...)) }

func (f *fake) Start(_ context.Context, n medic.NodeID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fail; err != nil {
		f.fail = nil
		return err
	}
	if f.alive[n] != 0 {
		return medic.ErrRunning
	}
	f.next++
	f.alive[n] = f.next
	f.note("start %s", n)
	return nil
}

func (f *fake) Terminate(context.Context, medic.NodeID) error { return errors.ErrUnsupported }

func (f *fake) Kill(_ context.Context, n medic.NodeID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kill != nil {
		f.kill(n)
	}
	if f.alive[n] != 0 {
		f.note("kill %s", n)
	}
	f.alive[n] = 0
	return nil
}

func (f *fake) Alive(_ context.Context, n medic.NodeID) (bool, error) {
	time.Sleep(f.look)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.alive[n] != 0, nil
}

func (f *fake) Wait(context.Context, medic.NodeID) (medic.Death, error) {
	return medic.Death{Cause: "signal: killed"}, nil
}

func (f *fake) Pid(n core.NodeID) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.alive[n], nil
}

// acts returns what was done since its last call.
func (f *fake) acts() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	did := f.did
	f.did = nil
	return did
}

func open(t *testing.T, dir string, r medic.Restarter) *Host {
	t.Helper()
	h, err := Open(dir, "local", "medic-9", r)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func order(gen core.Generation, leader core.NodeID, n uint64) core.Order {
	return core.Order{OrderID: core.OrderID{Gen: gen, N: n}, Leader: leader, Target: "a-1", Host: "local", Silent: time.Nanosecond,
		Until: time.Now().Add(5 * time.Minute)}
}

func nothing() core.Term { return core.Term{} }

func expect(t *testing.T, f *fake, want ...string) {
	t.Helper()
	if did := f.acts(); !slices.Equal(did, want) {
		t.Errorf("it did %v, want %v", did, want)
	}
}
