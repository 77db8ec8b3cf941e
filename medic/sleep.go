package medic

import (
	"context"
	"time"
)

// AskAgain is the pause between two questions of a restarter to an engine or to systemd. What it waits for takes several pauses, and each
// question costs the engine something.
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
