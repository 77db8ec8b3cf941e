package medic

import (
	"context"
	"time"
)

// AskAgain is the pause before a restarter asks an engine or systemd the same again: what it waits for takes some of these, and each
// question costs them something.
const AskAgain = 50 * time.Millisecond

// Sleep waits for d. The error is ctx's if that is over before.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
