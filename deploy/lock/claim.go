package lock

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// Claim is one volume of a lock.
type Claim struct {
	Number  int           // the claim with the highest number counts
	Token   string        // random, of one run of the program
	Holder  string        // for people: command, user and machine
	Process string        // see processID; "" if it is not known
	Age     time.Duration // since it was made, by the engine's clock
}

// same reports whether two claims are one, whenever they were looked at.
func (c Claim) same(d Claim) bool { return c.Number == d.Number && c.Token == d.Token }

// Store keeps the claims of clusters. engine.Engine is one.
type Store interface {
	// Claims returns the claims of a cluster, in any order.
	Claims(ctx context.Context, cluster string) ([]Claim, error)
	// Claim makes a claim. If one of this number exists, it returns that one.
	Claim(ctx context.Context, cluster string, c Claim) (Claim, error)
	// Unclaim removes the claim of a number; it is not an error if there is none.
	Unclaim(ctx context.Context, cluster string, number int) error
}

// Terms are the times of a lock.
type Terms struct {
	Renew time.Duration // between two renewals
	Lease time.Duration // a holder that has not renewed its claim for this long may be dead
	Watch time.Duration // how long the claim of a possibly dead holder is watched before it is taken over; more than Renew
}

// DefaultTerms are the times that posta deploy uses.
var DefaultTerms = Terms{Renew: 5 * time.Second, Lease: 30 * time.Second, Watch: 12 * time.Second}

// newest returns the claim that counts.
func newest(all []Claim) (Claim, bool) {
	if len(all) == 0 {
		return Claim{}, false
	}
	return slices.MaxFunc(all, func(a, b Claim) int { return cmp.Compare(a.Number, b.Number) }), true
}

func sortNewestFirst(all []Claim) {
	slices.SortFunc(all, func(a, b Claim) int { return cmp.Compare(b.Number, a.Number) })
}

// verdict is what to do about another holder's claim.
type verdict int

const (
	refuse   verdict = iota // the holder lives
	watch                   // it may be dead
	takeOver                // it is dead
)

// judge decides about a claim of another holder. alive reports whether its process lives; known is false if this machine cannot tell.
func judge(c Claim, t Terms, alive, known bool) verdict {
	switch {
	case known && alive:
		return refuse
	case known:
		return takeOver
	case c.Age >= 0 && c.Age < t.Lease:
		return refuse
	}
	return watch // a negative age shows that the clock was set back
}

// heldError returns the error that names the lock's holder, and says what to do.
func heldError(cluster, host string, c Claim, t Terms, local bool) error {
	what := fmt.Sprintf("wait until it ends; if it has died, %s after its last sign of life the next one takes over", t.Lease)
	if local {
		what = "wait until it ends, or end that process"
	}
	return fmt.Errorf("%w: cluster %s is being changed by %s (lock on host %s, renewed %s ago); %s",
		errHeld, cluster, c.Holder, host, max(c.Age, 0).Round(time.Second), what)
}
