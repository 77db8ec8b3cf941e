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

	"posta.dev/posta/cmd/internal/havoc"
	"posta.dev/posta/medic"
)

// reluctant is a havoc.Maker whose calls end as they are told to.
type reluctant struct {
	havoc.Maker
	err    error
	did    []havoc.Kind
	undone []havoc.Kind
}

func (r *reluctant) Pid(medic.NodeID) (int, error) { return 7, nil }

func (r *reluctant) Do(_ context.Context, k havoc.Kind, _ medic.NodeID) error {
	r.did = append(r.did, k)
	return r.err
}

func (r *reluctant) Undo(_ context.Context, k havoc.Kind, _ medic.NodeID, pid int) error {
	if pid == 7 {
		r.undone = append(r.undone, k)
	}
	return nil
}

// TestChaos_AFaultWithoutAnswerCounts: a call that was given up may have been carried out. The journal may tell of it, so it is
// counted, and what may last is ended. What was refused did not happen.
func TestChaos_AFaultWithoutAnswerCounts(t *testing.T) {
	for _, c := range []struct {
		err          error
		done, unsure int
		ended        bool
		last         string
	}{
		{nil, 1, 0, true, "1 fault; the journal"},
		{fmt.Errorf("stop joiner-1: %w", context.DeadlineExceeded), 1, 1, true, "1 fault, 1 without an answer; the journal"},
		{errors.New("no such container"), 0, 0, false, "0 faults; the journal"},
	} {
		var out bytes.Buffer
		x, maker := &command{}, &reluctant{err: c.err}
		x.Out = &out
		r := &rogue{
			x: x, maker: maker, rand: rand.New(rand.NewPCG(1, 2)), targets: []medic.NodeID{"joiner-1"}, kinds: []havoc.Kind{havoc.Pause}, suspect: time.Hour,
		}
		r.strike(t.Context())
		for _, resume := range r.later {
			resume()
		}
		x.sumUp(nil, time.Now(), r.done, r.unsure)
		if r.done != c.done || r.unsure != c.unsure || len(maker.did) != 1 || slices.Contains(maker.undone, havoc.Pause) != c.ended {
			t.Errorf("%v: %d done, %d unsure, did %v, ended %v", c.err, r.done, r.unsure, maker.did, maker.undone)
		}
		if !strings.Contains(out.String(), c.last) || c.err != nil && !strings.Contains(out.String(), c.err.Error()) {
			t.Errorf("%v: it is said %q", c.err, out.String())
		}
	}
}
