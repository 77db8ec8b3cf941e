package faults

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/medic"
)

// Processes is the Injector for the processes of this machine.
type Processes struct{ *local.Processes }

var _ Injector = Processes{}

// Kinds implements Injector.
func (Processes) Kinds() []Kind { return []Kind{Kill, Hang, Pause} }

// Do implements Injector.
func (p Processes) Do(ctx context.Context, k Kind, target medic.NodeID) error {
	signals := map[Kind]os.Signal{Kill: syscall.SIGKILL, Hang: syscall.SIGSTOP, Pause: syscall.SIGSTOP}
	signal, known := signals[k]
	if !known {
		return fmt.Errorf("%s %s: %w", k, target, errUnable)
	}
	return p.Signal(ctx, target, signal)
}

// Undo implements Injector.
func (p Processes) Undo(ctx context.Context, k Kind, target medic.NodeID, pid int) error {
	if now, err := p.Pid(target); err != nil || now != pid || k != Pause {
		return err
	}
	return p.Signal(ctx, target, syscall.SIGCONT)
}
