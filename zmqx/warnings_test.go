package zmqx

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestS3_EachCauseIsWarnedOf: a crowd of strangers does not hide the warning that a node's own certificate has expired.
func TestS3_EachCauseIsWarnedOf(t *testing.T) {
	expired, unknown := errors.New("expired"), errors.New("unknown")
	refused := func(why error, of any) error {
		return fmt.Errorf("%w: %w", errHandshake, fmt.Errorf("%w: %w", ErrRefused, fmt.Errorf("%w: %v", why, of)))
	}
	var w warnings
	now := time.Now()
	for minute := range 2 {
		for i, want := range []bool{true, false, false} {
			if got := w.due(refused(unknown, i), now); got != want {
				t.Errorf("minute %d, stranger %d is warned of: %v", minute, i, got)
			}
		}
		if !w.due(refused(expired, "joiner-1"), now) {
			t.Errorf("minute %d: a crowd hides another cause", minute)
		}
		now = now.Add(warnEvery)
	}
	warned := 0
	for i := range 10 * mostCauses {
		for _, e := range []error{fmt.Errorf("the name %q is none", fmt.Sprint(i)), fmt.Errorf("cause %d", i)} {
			if w.due(refused(e, i), now) {
				warned++
			}
		}
	}
	if warned != mostCauses {
		t.Errorf("%d warnings in one minute", warned)
	}
}
