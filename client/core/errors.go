package core

import (
	"errors"

	"posta.dev/posta/protocol"
)

var (
	// ErrNoCluster ends any task when no node has answered for Config.GiveUpAfter.
	ErrNoCluster = errors.New("no cluster answers")

	// ErrRefused is wrapped by errors given to Broken when a process does not let this client in, or is not the node that was dialled. To try
	// again at once does not help. To try again later may help, because keys can be changed.
	ErrRefused = errors.New("refused")

	// ErrInterrupted is how Open ends when the session exists and its upload is unfinished, and this run does not resume it: this run does not
	// know what the earlier one had in flight.
	ErrInterrupted = errors.New("session was interrupted during its upload")

	// ErrNotResumed is wrapped by errors of a client that should have resumed a session and sent nothing. The session is unchanged.
	ErrNotResumed = errors.New("the session is not resumed")
)

// errSilent is the outcome of an exchange that was tried once and not answered.
var errSilent = errors.New("no answer")

// errRowsMissing is returned when an output skipped rows; it is a fault of the cluster.
var errRowsMissing = errors.New("rows are missing")

// LeavesOurs reports whether this client may cancel a session that ended with an error. It may not if another client opened the session or
// took it over, or if another run began its upload: they may still need it (R17). A client that may not run sessions may not cancel them
// either (S5).
func LeavesOurs(err error) bool {
	return !errors.Is(err, protocol.ErrInUse) && !errors.Is(err, protocol.ErrFinished) && !errors.Is(err, protocol.ErrSuperseded) &&
		!errors.Is(err, protocol.ErrForbidden) && !errors.Is(err, ErrInterrupted) && !errors.Is(err, ErrNotResumed)
}
