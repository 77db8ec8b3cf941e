package client

import (
	"errors"

	"posta.dev/posta/client/core"
	"posta.dev/posta/client/source/unpack"
)

var (
	// ErrNoCluster is returned by every call when nothing has answered for Config.GiveUpAfter.
	ErrNoCluster = core.ErrNoCluster

	// ErrRefused is wrapped by errors about a node that does not let this client in, or that could not prove that it is the node that was dialled.
	ErrRefused = core.ErrRefused

	// ErrNoFiles is returned by Run and Upload when a stream's pattern matches nothing below the directory.
	ErrNoFiles = errors.New("no files")

	// ErrDamaged is returned by Run and Upload when a file is cut short or damaged.
	ErrDamaged = unpack.ErrDamaged

	// ErrInput is wrapped by errors of Run and Upload that are about the files that were given: they cannot be found, read, or understood.
	ErrInput = errors.New("bad input")

	// ErrInterrupted is returned by Run and Open when the session exists and its upload was neither finished nor goes on
	// here: what an earlier run had in flight is unknown, so it cannot be continued without risking rows twice.
	ErrInterrupted = core.ErrInterrupted

	// ErrNotDelivered is returned by Run when Config.Deliver returned an error. The session has its answer, which can be asked for again.
	ErrNotDelivered = errors.New("the answer was not delivered")

	// ErrConfig is returned by Run and Dial for a Config that cannot work.
	ErrConfig = errors.New("cannot work with this configuration")
)

// LeavesOurs reports whether a session that ended with an error is this client's to cancel. One that another client opened or took over,
// or one whose upload another run has begun, may be needed there (R17).
func LeavesOurs(err error) bool { return core.LeavesOurs(err) }
