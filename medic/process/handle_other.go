//go:build !linux

package process

import (
	"context"
	"time"

	"posta.dev/posta/medic"
)

// handle would report the end of a process that is not our child. This system has no pidfds.
type handle struct{ pid int }

func openHandle(int) *handle { return nil }

func (h *handle) ended() bool { return true }

func (h *handle) close() {}

// awaitEnd returns when it is time to look again.
func awaitEnd(ctx context.Context, _ int, every time.Duration) error { return medic.Sleep(ctx, every) }
