package medic

import (
	"context"
	"time"
)

// AskAgain is the pause before a restarter asks an engine or systemd the same again: what it waits for takes some of these, and each
// question costs them something.
const AskAgain = 50 * time.Millisecond

// Sleep waits for AskAgain, or says that ctx is over.
func Sleep(ctx context.Context) error {
	t := time.NewTimer(AskAgain)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
