package lock

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

var (
	// errHeld is wrapped by Take when somebody else changes the cluster.
	errHeld = errors.New("refused")
	// ErrLost is the cause with which the context of a lock ends when another process may have taken the lock.
	ErrLost = errors.New("the lock of the cluster is lost")
)

// Host is an engine, and its name for people.
type Host struct {
	Name  string
	Store Store
}

// Lock is held until Release.
type Lock struct {
	cluster string
	me      Claim // without a number: each hold has its own
	terms   Terms
	held    []*hold
	ctx     context.Context
	lose    context.CancelCauseFunc
	stop    chan struct{}  // closed by Release
	renewal sync.WaitGroup // a goroutine for each hold
}

// hold is the lock on one host. Take owns it, then the goroutine that renews it, then Release.
type hold struct {
	Host
	number  int       // of the last claim
	renewed time.Time // when that claim was made
}

// Take takes the lock on all hosts. All callers must pass the hosts in the same order. It refuses with errHeld if somebody else has the
// lock.
func Take(ctx context.Context, hosts []Host, cluster, holder string, t Terms) (*Lock, error) {
	token := make([]byte, 16)
	_, _ = rand.Read(token) // never fails
	l := &Lock{cluster: cluster, terms: t, stop: make(chan struct{}),
		me: Claim{Token: hex.EncodeToString(token), Holder: holder, Process: processID()}}
	l.ctx, l.lose = context.WithCancelCause(ctx)
	for _, h := range hosts {
		held, err := l.takeOn(ctx, h)
		if err != nil {
			return nil, errors.Join(err, l.Release())
		}
		l.held = append(l.held, held)
		l.renewal.Add(1)
		go l.renew(held)
	}
	return l, nil
}

// Context ends with cause ErrLost when somebody else may have the lock.
func (l *Lock) Context() context.Context { return l.ctx }

// takeOn takes the lock on one host.
func (l *Lock) takeOn(ctx context.Context, h Host) (*hold, error) {
	dead, err := l.awaitFree(ctx, h)
	if err != nil {
		return nil, err
	}
	mine := l.me
	mine.Number = 1
	if c, ok := newest(dead); ok {
		mine.Number = c.Number + 1
	}
	began := time.Now()
	got, err := h.Store.Claim(ctx, l.cluster, mine)
	if err != nil {
		// The engine may have created it nevertheless.
		return nil, errors.Join(err, l.drop(h, mine.Number, false))
	}
	if got.Token != mine.Token {
		return nil, l.refusal(h, got)
	}
	all, err := h.Store.Claims(ctx, l.cluster)
	if err != nil {
		return nil, errors.Join(err, l.drop(h, mine.Number, true))
	}
	for _, c := range all {
		if c.Token != mine.Token && !slices.ContainsFunc(dead, c.same) {
			return nil, errors.Join(l.refusal(h, c), l.drop(h, mine.Number, true))
		}
	}
	for _, c := range all {
		if c.Number < mine.Number {
			_ = h.Store.Unclaim(ctx, l.cluster, c.Number) // a lower number does not count; the next holder removes it, too
		}
	}
	return &hold{Host: h, number: mine.Number, renewed: began}, nil
}

// awaitFree returns the claims of dead holders, or refuses. There may be several: one that took the lock over may have died before it
// removed the claim of the one before.
func (l *Lock) awaitFree(ctx context.Context, h Host) (dead []Claim, err error) {
	dead, err = h.Store.Claims(ctx, l.cluster)
	if err != nil {
		return nil, err
	}
	sortNewestFirst(dead)
	doubtful := false
	for _, c := range dead {
		alive, known := lives(c.Process)
		switch judge(c, l.terms, alive, known) {
		case refuse:
			return nil, l.refusal(h, c)
		case watch:
			doubtful = true
		}
	}
	if !doubtful {
		return dead, nil
	}
	select {
	case <-time.After(l.terms.Watch):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	now, err := h.Store.Claims(ctx, l.cluster)
	if err != nil {
		return nil, err
	}
	for _, c := range now {
		if !slices.ContainsFunc(dead, c.same) {
			return nil, l.refusal(h, c)
		}
	}
	return now, nil
}

func (l *Lock) refusal(h Host, c Claim) error {
	alive, known := lives(c.Process)
	return heldError(l.cluster, h.Name, c, l.terms, alive && known)
}

// drop removes a claim of this process. Unless ours says that the claim is ours, drop checks that first.
func (l *Lock) drop(h Host, number int, ours bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), l.terms.Lease)
	defer cancel()
	if !ours {
		all, err := h.Store.Claims(ctx, l.cluster)
		if err != nil {
			return nil // the first error says more; the claim ends with its lease
		}
		for _, c := range all {
			ours = ours || c.Number == number && c.Token == l.me.Token
		}
	}
	if !ours {
		return nil
	}
	return h.Store.Unclaim(ctx, l.cluster, number)
}

// renew keeps the lock on a host until Release.
func (l *Lock) renew(h *hold) {
	defer l.renewal.Done()
	tick := time.NewTicker(l.terms.Renew)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-l.stop:
			return
		}
		if err := l.renewOnce(h); err != nil {
			l.lose(err)
			return
		}
	}
}

// renewOnce makes the next claim. An error says that the lock is lost.
func (l *Lock) renewOnce(h *hold) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), l.terms.Lease)
	defer cancel()
	next := l.me
	next.Number = h.number + 1
	got, err := h.Store.Claim(ctx, l.cluster, next)
	switch {
	case err != nil && time.Since(h.renewed) >= l.terms.Lease:
		return fmt.Errorf("%w: host %s could not be told for %s that this program lives, so another one may change the cluster: %w", ErrLost,
			h.Name, time.Since(h.renewed).Round(time.Second), err)
	case err != nil:
		return nil // the next renewal makes the same claim
	case got.Token != next.Token:
		return fmt.Errorf("%w: on host %s it was taken over by %s", ErrLost, h.Name, got.Holder)
	}
	former := h.number
	h.number, h.renewed = next.Number, began
	_ = h.Store.Unclaim(ctx, l.cluster, former) // a lower number does not count
	return nil
}

// Release gives the lock back.
func (l *Lock) Release() error {
	close(l.stop)
	l.renewal.Wait()
	var errs []error
	for _, h := range l.held {
		// A renewal whose answer was lost may have made the number after the last one.
		errs = append(errs, l.drop(h.Host, h.number+1, false), l.drop(h.Host, h.number, false))
	}
	l.lose(nil)
	return errors.Join(errs...)
}
