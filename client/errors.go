package client

import (
	"errors"

	"posta.dev/posta/client/core"
	"posta.dev/posta/client/resume"
	"posta.dev/posta/client/source/unpack"
)

var (
	// ErrNoCluster is returned by every call when no node has answered for Config.GiveUpAfter.
	ErrNoCluster = core.ErrNoCluster

	// ErrRefused is wrapped by errors about a node that does not let this client in, or that could not prove to be the node that was dialled.
	ErrRefused = core.ErrRefused

	// ErrNoFiles is returned by Run and Upload when a stream's pattern matches nothing below the directory.
	ErrNoFiles = errors.New("no files")

	// ErrDamaged is returned by Run and Upload when a file is cut short or damaged.
	ErrDamaged = unpack.ErrDamaged

	// ErrInput is wrapped by errors of Run and Upload about the given files: they cannot be found, read, or understood.
	ErrInput = errors.New("bad input")

	// ErrInterrupted is returned by Run and Open when the session exists, its upload is unfinished, and this run cannot continue it. Without
	// Config.Resume the run does not know what an earlier one had in flight. With Config.Resume, an input does not know what it has taken.
	ErrInterrupted = core.ErrInterrupted

	// ErrOtherFiles is returned by Run and Upload with Config.Resume when the session has rows of other files than those given. The session is
	// unchanged, and can be resumed with the right files.
	ErrOtherFiles = resume.ErrOther

	// ErrNotResumed is wrapped by errors of Run and Upload with Config.Resume when nothing was sent: the session is unchanged.
	ErrNotResumed = core.ErrNotResumed

	// ErrNotDelivered is returned by Run when Config.Deliver returned an error. The cluster keeps the answer, which can be asked for again.
	ErrNotDelivered = errors.New("the answer was not delivered")

	// ErrConfig is returned by Run and Dial for a Config that cannot work.
	ErrConfig = errors.New("cannot work with this configuration")
)

// LeavesOurs reports whether this client may cancel a session that ended with an error. It may not if another client opened the session or
// took it over, or if another run began its upload: they may still need it (R17).
func LeavesOurs(err error) bool { return core.LeavesOurs(err) }
