package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/faults"
	"posta.dev/posta/medic"
)

// reluctant is a faults.Injector whose calls end as they are told to.
type reluctant struct {
	faults.Injector
	err    error
	did    []faults.Kind
	undone []faults.Kind
}

func (r *reluctant) Pid(medic.NodeID) (int, error) { return 7, nil }

func (r *reluctant) Do(_ context.Context, k faults.Kind, _ medic.NodeID) error {
	r.did = append(r.did, k)
	return r.err
}

func (r *reluctant) Undo(_ context.Context, k faults.Kind, _ medic.NodeID, pid int) error {
	if pid == 7 {
		r.undone = append(r.undone, k)
	}
	return nil
}

// TestChaos_AFaultWithoutAnswerCounts: a call that was given up may have been carried out. The journal may tell of it, so it is
// counted, and what may last is ended. What was refused did not happen.
func TestChaos_AFaultWithoutAnswerCounts(t *testing.T) {
	for _, c := range []struct {
		err              error
		done, unanswered int
		ended            bool
		last             string
	}{
		{nil, 1, 0, true, "1 fault; the journal"},
		{fmt.Errorf("stop joiner-1: %w", context.DeadlineExceeded), 1, 1, true, "1 fault, 1 without an answer; the journal"},
		{errors.New("no such container"), 0, 0, false, "0 faults; the journal"},
	} {
		var out bytes.Buffer
		x, injector := &command{}, &reluctant{err: c.err}
		x.Out = &out
		r := &faultInjector{
			x: x, injector: injector, rand: rand.New(rand.NewPCG(1, 2)), targets: []medic.NodeID{"joiner-1"}, kinds: []faults.Kind{faults.Pause}, suspect: time.Hour,
		}
		r.inject(t.Context())
		for _, resume := range r.undos {
			resume()
		}
		x.printSummary(nil, time.Now(), r.done, r.unanswered)
		if r.done != c.done || r.unanswered != c.unanswered || len(injector.did) != 1 || slices.Contains(injector.undone, faults.Pause) != c.ended {
			t.Errorf("%v: %d done, %d unanswered, did %v, ended %v", c.err, r.done, r.unanswered, injector.did, injector.undone)
		}
		if !strings.Contains(out.String(), c.last) || c.err != nil && !strings.Contains(out.String(), c.err.Error()) {
			t.Errorf("%v: it is said %q", c.err, out.String())
		}
	}
}
