package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"posta.dev/posta/medic"
)

// GateVar is the environment variable with the descriptor at which a child waits until its parent has written its files.
const GateVar = "POSTA_START_FD"

// ErrUnrecorded is wrapped by the error of AwaitRecord.
var ErrUnrecorded = errors.New("the process that started this one has ended before it noted that")

// AwaitRecord must be called by a node and by a medic before they do anything that others notice. It returns when the Restarter that has
// started this process has written its files, and at once if no Restarter has. If the Restarter has ended before, nobody would ever find
// this process, and it must end as well.
func AwaitRecord() error {
	text := os.Getenv(GateVar)
	if text == "" {
		return nil
	}
	if err := os.Unsetenv(GateVar); err != nil { // children of this process have no such descriptor
		return err
	}
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 0 {
		return fmt.Errorf("%s=%s in the environment is not a descriptor; remove it", GateVar, text)
	}
	gate := os.NewFile(uintptr(fd), "gate")
	defer func() { _ = gate.Close() }()
	if n, err := gate.Read(make([]byte, 1)); n == 0 {
		return fmt.Errorf("%w (%w); posta up starts it again, and so does a medic", ErrUnrecorded, err)
	}
	return nil
}

// recordAndOpen writes the files of a child that waits at its gate, and lets it go.
func (r *Restarter) recordAndOpen(node medic.NodeID, pid int, gate *os.File) error {
	err := r.record(node, pid)
	if err == nil {
		_, _ = gate.Write([]byte{1}) // it fails only if the child has ended
	}
	return errors.Join(err, gate.Close())
}
