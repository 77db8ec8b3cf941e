package core

import (
	"errors"

	"posta.dev/posta/protocol"
)

var (
	// ErrNoCluster is how any task ends when nothing has answered for Config.GiveUpAfter.
	ErrNoCluster = errors.New("no cluster answers")

	// ErrRefused is wrapped by what Broken is told of a process that does not let this client in, or is not the one that was dialled. To try again
	// at once does not help, but keys may be changed meanwhile.
	ErrRefused = errors.New("refused")

	// ErrInterrupted is how Open ends when the session exists and its upload was neither finished nor goes on here: what an earlier
	// run had in flight is unknown, so it cannot be continued without risking rows twice.
	ErrInterrupted = errors.New("session was interrupted during its upload")
)

// errSilent is the outcome of an exchange that was tried once and not answered.
var errSilent = errors.New("no answer")

// errRowsMissing is returned when an output skipped rows; it is a fault of the cluster.
var errRowsMissing = errors.New("rows are missing")

// LeavesOurs reports whether a session that ended with an error is this client's to cancel. One that another client opened or took over,
// or one whose upload another run has begun, may be needed there (R17). A client that may not run sessions may not cancel them either (S5).
func LeavesOurs(err error) bool {
	return !errors.Is(err, protocol.ErrInUse) && !errors.Is(err, protocol.ErrFinished) && !errors.Is(err, protocol.ErrSuperseded) &&
		!errors.Is(err, protocol.ErrForbidden) && !errors.Is(err, ErrInterrupted)
}
