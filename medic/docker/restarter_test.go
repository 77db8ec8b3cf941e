package docker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"posta.dev/posta/medic"
	"posta.dev/posta/test/await"
)

// Deadlines for calls. A fake engine meets short, unless it hangs or the machine stands still; when a call misses it, the restarter has to
// cope. Where no call hangs the deadline is patient: then a machine that stands still does not add calls.
const (
	short   = 300 * time.Millisecond
	patient = time.Minute
)

func wantCalls(t *testing.T, f *fake, want ...string) {
	t.Helper()
	if did := f.did(); !slices.Equal(did, want) {
		t.Errorf("the engine was asked to %v, want %v", did, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// restart makes the calls that package host makes for a restart.
func restart(t *testing.T, r *Restarter, node medic.NodeID) error {
	t.Helper()
	if err := r.Kill(await.Soon(t), node); err != nil {
		return err
	}
	return r.Start(await.Soon(t), node)
}

func TestM5_ARestartIsAKillAndAStart(t *testing.T) {
	f, r := newEngineOf(t, patient)
	c := f.has("c1", "a-1")
	f.has("c2", "b-1")
	before := c.started
	must(t, r.Kill(await.Soon(t), "a-1"))
	if death, err := r.Wait(await.Soon(t), "a-1"); err != nil || death.Cause != "signal: killed" {
		t.Errorf("it ended with %v, %v", death, err)
	}
	if alive, err := r.Alive(await.Soon(t), "a-1"); alive || err != nil {
		t.Errorf("alive: %v, %v", alive, err)
	}
	must(t, r.Start(await.Soon(t), "a-1"))
	if err := r.Start(await.Soon(t), "a-1"); !errors.Is(err, medic.ErrRunning) {
		t.Errorf("a second start: %v", err)
	}
	if pid, err := r.Pid("a-1"); err != nil || pid != c.pid || c.started == before {
		t.Errorf("process %d, %v; want %d", pid, err, c.pid)
	}
	wantCalls(t, f, "kill c1", "start c1")
}

func TestNothingThereIsNoErrorButAtAStart(t *testing.T) {
	f, r := newEngineOf(t, patient)
	c := f.has("c1", "a-1")
	f.die(c, 0)
	must(t, r.Kill(await.Soon(t), "a-1"))
	must(t, r.Terminate(await.Soon(t), "a-1"))
	must(t, r.Kill(await.Soon(t), "never"))
	must(t, r.Terminate(await.Soon(t), "never"))
	if alive, err := r.Alive(await.Soon(t), "never"); alive || err != nil {
		t.Errorf("alive: %v, %v", alive, err)
	}
	if death, err := r.Wait(await.Soon(t), "never"); err != nil || !strings.Contains(death.Cause, "removed") {
		t.Errorf("%v, %v", death, err)
	}
	err := r.Start(await.Soon(t), "never")
	if !errors.Is(err, ErrNoContainer) || !strings.Contains(err.Error(), "docker-compose up") {
		t.Errorf("a start without a container: %v", err)
	}
	wantCalls(t, f)
}

func TestTerminateAsksAndDoesNotWait(t *testing.T) {
	f, r := newEngineOf(t, patient)
	c := f.has("c1", "a-1")
	f.with(c, func() { c.deaf = true })
	must(t, r.Terminate(await.Soon(t), "a-1"))
	if alive, err := r.Alive(await.Soon(t), "a-1"); !alive || err != nil {
		t.Errorf("alive: %v, %v", alive, err)
	}
	short, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.Wait(short, "a-1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the wait for somebody deaf ends with %v", err)
	}
	f.with(c, func() { c.deaf = false })
	must(t, r.Terminate(await.Soon(t), "a-1"))
	if death, err := r.Wait(await.Soon(t), "a-1"); err != nil || death.Cause != "exit status 0" {
		t.Errorf("%v, %v", death, err)
	}
}

func TestWaitSeesAnEndThatComesLater(t *testing.T) {
	f, r := newEngineOf(t, 50*time.Millisecond) // several calls long
	c := f.has("c1", "a-1")
	done := make(chan medic.Death)
	go func() {
		d, _ := r.Wait(await.Soon(t), "a-1")
		done <- d
	}()
	time.Sleep(200 * time.Millisecond)
	f.die(c, 2)
	if d := <-done; d.Cause != "exit status 2" {
		t.Errorf("it ended with %v", d)
	}
}

func TestAPausedContainerIsKilled(t *testing.T) {
	f, r := newEngineOf(t, patient)
	c := f.has("c1", "a-1")
	f.with(c, func() { c.paused = true })
	must(t, r.Kill(await.Soon(t), "a-1"))
	wantCalls(t, f, "unpause c1", "kill c1")
}

// A call without an answer may have been carried out or not. The restarter looks, and so restarts once.
func TestACallWithoutAnAnswerIsLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		met   trouble
		again bool
	}{
		"hangs, not done":      {trouble{hang: true}, true},
		"hangs, done":          {trouble{hang: true, done: true}, false},
		"cut, not done":        {trouble{cut: true}, true},
		"cut, done":            {trouble{cut: true, done: true}, false},
		"slow":                 {trouble{late: 20 * time.Millisecond}, false},
		"slower than its time": {trouble{late: 2 * short}, true},
	} {
		for _, call := range []string{"kill", "start"} {
			t.Run(call+" "+name, func(t *testing.T) {
				deadline := patient
				if c.met.hang || c.met.late > 0 {
					deadline = short
				}
				f, r := newEngineOf(t, deadline)
				c1 := f.has("c1", "a-1")
				_, before := f.state(c1)
				f.meets(call, c.met)
				must(t, restart(t, r, "a-1"))
				running, started := f.state(c1)
				if started == before {
					t.Errorf("it was not restarted")
				}
				if c.met.late > 0 {
					return // the first call may still take effect, and then the container was restarted twice
				}
				if !running {
					t.Errorf("it does not run")
				}
				want := []string{"kill c1", "start c1"}
				if c.again {
					want = append(want, call+" c1")
					slices.Sort(want)
				}
				wantCalls(t, f, want...)
				if started != before+1 {
					t.Errorf("it was started %d times", started-before)
				}
			})
		}
	}
}

// Calls that only look may hang as well, even the first call of all.
func TestLooksThatHangAreRepeated(t *testing.T) {
	for _, call := range []string{"json", "wait"} {
		t.Run(call, func(t *testing.T) {
			f, r := newEngineOf(t, short)
			f.has("c1", "a-1")
			must(t, r.Kill(await.Soon(t), "a-1")) // it is known now
			must(t, r.Start(await.Soon(t), "a-1"))
			f.meets(call, trouble{hang: true}, trouble{hang: true})
			must(t, r.Kill(await.Soon(t), "a-1"))
			if alive, err := r.Alive(await.Soon(t), "a-1"); alive || err != nil {
				t.Errorf("alive: %v, %v", alive, err)
			}
		})
	}
}

// A call to a hung engine ends in time with an error that names the engine. No call waits for another one.
func TestAHungEngineDelaysNoCallForEver(t *testing.T) {
	for _, call := range []string{"ping", "list", "json", "kill", "start"} {
		t.Run(call, func(t *testing.T) {
			f, r := newEngineOf(t, short)
			c := f.has("c1", "a-1")
			if call == "start" {
				f.die(c, 0)
			}
			f.meets(call, slices.Repeat([]trouble{{hang: true}}, 1000)...)
			ctx, cancel := context.WithTimeout(context.Background(), 2*short)
			defer cancel()
			errs := make(chan error)
			const people = 5
			for range people {
				go func() {
					if call == "start" {
						errs <- r.Start(ctx, "a-1")
					} else {
						errs <- r.Kill(ctx, "a-1")
					}
				}()
			}
			for range people {
				select {
				case err := <-errs:
					if err == nil || call == "kill" && !errors.Is(err, medic.ErrStillThere) {
						t.Errorf("a hung engine gives %v", err)
					}
				case <-time.After(2 * time.Minute):
					t.Fatal("somebody waits for ever")
				}
			}
		})
	}
}

func TestTheEnginesAnswersAreDistinguished(t *testing.T) {
	f, r := newEngineOf(t, patient)
	c := f.has("c1", "a-1")
	f.meets("kill", trouble{status: 409}, trouble{status: 500})
	must(t, r.Kill(await.Soon(t), "a-1")) // it runs still, so it is killed again
	wantCalls(t, f, "kill c1", "kill c1", "kill c1")
	f.meets("start", trouble{status: 500})
	if err := r.Start(await.Soon(t), "a-1"); err == nil || !strings.Contains(err.Error(), "trouble") {
		t.Errorf("an engine that refuses: %v", err)
	}
	wantCalls(t, f, "start c1") // it has answered, so it is not asked again
	f.meets("start", trouble{status: 404})
	if err := r.Start(await.Soon(t), "a-1"); err == nil || !strings.Contains(err.Error(), "docker-compose up") {
		t.Errorf("a container that goes away: %v", err)
	}
	f.meets("start", trouble{status: 304}) // another process was faster
	must(t, r.Start(await.Soon(t), "a-1"))
	f.with(c, func() { c.paused = true })
	f.meets("unpause", trouble{status: 409})
	must(t, r.Kill(await.Soon(t), "a-1"))
}

func TestAnOldEngineIsRefusedInWords(t *testing.T) {
	for version, ok := range map[string]bool{"1.41": true, "1.44": true, "1.51": true, "9.1": true, "1.40": false, "1.9": false, "": false} {
		t.Run(version, func(t *testing.T) {
			f, r := newEngineOf(t, patient)
			f.version = version
			f.has("c1", "a-1")
			err := r.Kill(await.Soon(t), "a-1")
			if ok != (err == nil) || !ok && !errors.Is(err, ErrTooOld) {
				t.Errorf("version %q: %v", version, err)
			}
		})
	}
}

// Compose recreates a container under another id; the old one is then gone or about to be removed.
func TestAContainerThatWasMadeAnewIsFound(t *testing.T) {
	f, r := newEngineOf(t, patient)
	old := f.has("c1", "a-1")
	must(t, r.Kill(await.Soon(t), "a-1"))
	f.with(old, func() { delete(f.containers, "c1") })
	again := f.has("c2", "a-1")
	must(t, restart(t, r, "a-1"))
	wantCalls(t, f, "kill c1", "kill c2", "start c2")
	// Of two containers the running one is meant, else the newer one. A container of "compose run" is never meant.
	f.die(again, 0)
	r.ids.CompareAndDelete(medic.NodeID("a-1"), "c2")
	third := f.has("c3", "a-1")
	f.die(third, 0)
	oneOff := f.has("c4", "a-1")
	f.with(oneOff, func() { oneOff.oneOff = true })
	must(t, r.Start(await.Soon(t), "a-1"))
	wantCalls(t, f, "start c3")
	f.with(again, func() { f.startLocked(again) })
	r.ids.CompareAndDelete(medic.NodeID("a-1"), "c3")
	if err := r.Kill(await.Soon(t), "a-1"); !errors.Is(err, ErrDuplicate) {
		t.Errorf("two that run: %v", err)
	}
	all, err := r.list(await.Soon(t))
	if err != nil || slices.ContainsFunc(all, func(c container.Summary) bool {
		return c.Labels[labelOneOff] != "" ||
			c.Labels[LabelNode] != "a-1"
	}) {
		t.Errorf("containers: %v, %v", all, err)
	}
}

// A restarted node is connected to its network again, under its name. Otherwise it would be restarted for ever.
func TestM5_ADisconnectedNodeIsConnectedBeforeItStarts(t *testing.T) {
	f, r := newEngineOf(t, patient)
	c := f.has("c1", "a-1")
	did, err := r.Detach(await.Soon(t), "a-1")
	if err != nil || !did || c.network != "" {
		t.Fatalf("cut off: %v, %v", did, err)
	}
	if did, err := r.Detach(await.Soon(t), "a-1"); did || err != nil {
		t.Errorf("cut off twice: %v, %v", did, err)
	}
	must(t, restart(t, r, "a-1"))
	if c.network != "test_default" || !slices.Equal(c.aliases, []string{"a-1", "service-a-1"}) {
		t.Errorf("it is in %q as %v", c.network, c.aliases)
	}
	wantCalls(t, f, "disconnect test_default", "kill c1", "connect test_default", "start c1")

	f.with(c, func() { c.aliases = nil }) // the engine has connected it by itself
	must(t, restart(t, r, "a-1"))
	wantCalls(t, f, "kill c1", "disconnect test_default", "connect test_default", "start c1")

	for _, met := range []trouble{{hang: true, done: true}, {cut: true, done: true}} {
		f.with(c, func() { c.network = "" })
		f.meets("connect", met)
		r.engine.call = short
		must(t, restart(t, r, "a-1"))
	}
	r.engine.call = patient
	f.did()
	f.with(c, func() { c.network = "" })
	f.meets("connect", trouble{status: 404})
	if err := restart(t, r, "a-1"); err == nil || !strings.Contains(err.Error(), "force-recreate") {
		t.Errorf("a network that is gone: %v", err)
	}
	wantCalls(t, f, "kill c1", "connect test_default")
}
