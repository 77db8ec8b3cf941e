package client

import "errors"

var (
	// ErrNoCluster is returned by every call when nothing has answered for Config.GiveUpAfter.
	ErrNoCluster = errors.New("no cluster answers")

	// ErrNoFiles is returned by Run and Upload when a stream's pattern matches nothing below the directory.
	ErrNoFiles = errors.New("no files")

	// ErrDamaged is returned by Run and Upload when a gzip file is cut short or damaged.
	ErrDamaged = errors.New("damaged gzip file")

	// ErrInput is wrapped by errors of Run and Upload that are about the files that were given: they cannot be found, read, or understood.
	ErrInput = errors.New("bad input")

	// ErrInterrupted is returned by Run and Open when the session exists and its upload was neither finished nor goes on
	// here: what an earlier run had in flight is unknown, so it cannot be continued without risking rows twice.
	ErrInterrupted = errors.New("session was interrupted during its upload")

	// ErrConfig is returned by Run and Dial for a Config that cannot work.
	ErrConfig = errors.New("cannot work with this configuration")
)
