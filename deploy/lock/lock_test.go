package lock

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf is a Store in memory. fail is asked before each call.
type shelf struct {
	mu     sync.Mutex
	claims map[int]Claim
	fail   func(what string, number int) error
}

func newShelf(all ...Claim) *shelf {
	s := &shelf{claims: map[int]Claim{}, fail: func(string, int) error { return nil }}
	for _, c := range all {
		s.claims[c.Number] = c
	}
	return s
}

func (s *shelf) Claims(context.Context, string) (all []Claim, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail("list", 0); err != nil {
		return nil, err
	}
	for _, c := range s.claims {
		all = append(all, c)
	}
	return all, nil
}

func (s *shelf) Claim(_ context.Context, _ string, c Claim) (Claim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.fail("claim", c.Number)
	if _, ok := s.claims[c.Number]; !ok {
		s.claims[c.Number] = c
	}
	return s.claims[c.Number], err
}

func (s *shelf) Unclaim(_ context.Context, _ string, number int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.claims, number)
	return nil
}

func (s *shelf) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.claims)
}

var (
	fast = Terms{Renew: 10 * time.Millisecond, Lease: time.Hour, Watch: 50 * time.Millisecond}
	far  = Claim{Number: 7, Token: "t7", Holder: "posta deploy of ann on b", Process: "another machine/1/1"}
)

func take(t *testing.T, s *shelf) (*Lock, error) {
	return Take(t.Context(), []Host{{"a", s}}, "c", "posta deploy of bob", fast)
}

func TestOneOfManyHasTheLock(t *testing.T) {
	s := newShelf()
	var wg sync.WaitGroup
	var mu sync.Mutex // guards won
	var won []*Lock
	for range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			l, err := take(t, s)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won = append(won, l)
			} else if !errors.Is(err, errHeld) {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d have the lock", len(won))
	}
	if err := won[0].Release(); err != nil || s.count() != 0 {
		t.Fatalf("%v; %d claims are left", err, s.count())
	}
	l, err := take(t, s)
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	_ = l.Release()
}

func TestASecondIsRefusedAtOnceInWords(t *testing.T) {
	c := far
	c.Age = 3 * time.Second
	began := time.Now()
	_, err := take(t, newShelf(c))
	if !errors.Is(err, errHeld) || !strings.Contains(err.Error(), "ann on b") || !strings.Contains(err.Error(), "host a") ||
		!strings.Contains(err.Error(), "3s ago") {
		t.Fatal(err)
	}
	if took := time.Since(began); took >= fast.Watch {
		t.Errorf("it took %s", took)
	}
}

// A claim that was not renewed for the length of a lease is observed: a holder that renews it keeps the lock, a dead
// holder loses it.
func TestAStaleClaimIsTakenOver(t *testing.T) {
	c := far
	c.Age = 2 * time.Hour
	s := newShelf(c)
	l, err := take(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if s.claims[7].Token != "" {
		t.Error("the dead holder's claim stays")
	}
	_ = l.Release()

	c.Age = -time.Hour // the clock was set back
	s = newShelf(c)
	lists := 0
	s.fail = func(what string, _ int) error {
		if lists++; what == "list" && lists == 2 {
			s.claims[8] = Claim{Number: 8, Token: "t7", Holder: far.Holder, Process: far.Process}
		}
		return nil
	}
	if _, err := take(t, s); !errors.Is(err, errHeld) || len(s.claims) != 2 {
		t.Errorf("a holder that renews its claim: %v, %v", err, s.claims)
	}
}

// Others do not wait for a killed holder on this machine. They never take over from a living one.
func TestTheHolderIsOnThisMachine(t *testing.T) {
	p := exec.Command("sleep", "60")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	machine, ok := machineID()
	began, ok2 := beginning(p.Process.Pid)
	if !ok || !ok2 {
		t.Skip("this system does not name processes")
	}
	c := Claim{Number: 1, Token: "x", Holder: "sleep", Process: fmt.Sprintf("%s/%d/%s", machine, p.Process.Pid, began), Age: 2 * time.Hour}
	s := newShelf(c)
	if _, err := take(t, s); !errors.Is(err, errHeld) || !strings.Contains(err.Error(), "end that process") {
		t.Errorf("it lives: %v", err)
	}
	_ = p.Process.Kill()
	_ = p.Wait()
	c.Age = 0
	s = newShelf(c)
	l, err := take(t, s)
	if err != nil {
		t.Fatalf("it is dead: %v", err)
	}
	_ = l.Release()
}

// The one that took a dead holder's lock over was killed before it removed that holder's claim: two dead holders have claims. Nobody could
// change the cluster any more.
func TestATakeoverThatWasCutOff(t *testing.T) {
	machine, ok := machineID()
	if !ok {
		t.Skip("this system does not name processes")
	}
	gone := func(number int, token string) Claim { // no process has so high a number
		return Claim{Number: number, Token: token, Holder: "posta deploy", Process: fmt.Sprintf("%s/%d/1", machine, 1<<30)}
	}
	old := func(number int, token string) Claim {
		return Claim{Number: number, Token: token, Holder: far.Holder, Process: far.Process, Age: 2 * time.Hour}
	}
	for name, claims := range map[string][]Claim{
		"on this machine":            {gone(4, "first"), gone(5, "second"), gone(6, "second")},
		"on another":                 {old(4, "first"), old(5, "second")},
		"first here, then elsewhere": {gone(4, "first"), old(5, "second")},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(claims...)
			l, err := take(t, s)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range claims {
				if s.claims[c.Number].same(c) {
					t.Errorf("claim %d stays", c.Number)
				}
			}
			if err := l.Release(); err != nil || s.count() != 0 {
				t.Errorf("%v; left: %v", err, s.claims)
			}
		})
	}
	c := far // the one before lives: it was taken for dead
	c.Age = time.Second
	if _, err := take(t, newShelf(c, gone(8, "second"))); !errors.Is(err, errHeld) || !strings.Contains(err.Error(), "ann on b") {
		t.Errorf("one of two holders lives: %v", err)
	}
}

// Two processes take over a dead holder's lock, and one of them is late: they must not both have the lock.
func TestALateTakeover(t *testing.T) {
	s := newShelf()
	lists := 0
	s.fail = func(what string, _ int) error {
		if what != "list" {
			return nil
		}
		if lists++; lists == 2 { // after our claim 1: another process took over claim 7 meanwhile
			s.claims[8] = Claim{Number: 8, Token: "t8", Holder: "posta deploy of eve", Process: far.Process}
		}
		return nil
	}
	_, err := take(t, s)
	if !errors.Is(err, errHeld) || !strings.Contains(err.Error(), "eve") {
		t.Fatal(err)
	}
	if _, ok := s.claims[1]; ok || len(s.claims) != 1 {
		t.Errorf("left: %v", s.claims)
	}
}

func TestARenewedLockOutlivesAFewErrors(t *testing.T) {
	s := newShelf()
	calls := 0
	s.fail = func(what string, _ int) error {
		if calls++; what == "claim" && calls > 3 && calls%2 == 0 {
			return errors.New("the answer is lost")
		}
		return nil
	}
	l, err := take(t, s)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * fast.Renew)
	if l.Context().Err() != nil {
		t.Error(context.Cause(l.Context()))
	}
	if err := l.Release(); err != nil || s.count() != 0 {
		t.Errorf("%v; left: %v", err, s.claims)
	}
}

func TestALostLockIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		terms Terms
		spoil func(s *shelf)
		want  string
	}{
		"taken over": {fast, func(s *shelf) {
			for n := range 1000 {
				if _, ok := s.claims[n+2]; !ok {
					s.claims[n+2] = Claim{Number: n + 2, Token: "x", Holder: "eve"}
				}
			}
		}, "taken over by eve"},
		"no answer": {Terms{Renew: 5 * time.Millisecond, Lease: 30 * time.Millisecond, Watch: time.Millisecond}, func(s *shelf) {
			s.fail = func(string, int) error { return errors.New("engine is away") }
		}, "engine is away"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf()
			l, err := Take(t.Context(), []Host{{"a", s}}, "c", "bob", c.terms)
			if err != nil {
				t.Fatal(err)
			}
			s.mu.Lock()
			c.spoil(s)
			s.mu.Unlock()
			<-l.Context().Done()
			if err := context.Cause(l.Context()); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
			_ = l.Release()
		})
	}
}

// If one host refuses the lock, the locks of the others are released.
func TestAllHostsOrNone(t *testing.T) {
	free, busy := newShelf(), newShelf(far)
	_, err := Take(t.Context(), []Host{{"a", free}, {"b", busy}}, "c", "bob", fast)
	if !errors.Is(err, errHeld) || free.count() != 0 || busy.count() != 1 {
		t.Errorf("%v; %v, %v", err, free.claims, busy.claims)
	}
}
