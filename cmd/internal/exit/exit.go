package exit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"posta.dev/posta/client/inspect"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/journal"
	"posta.dev/posta/cmd/internal/out"
	"posta.dev/posta/cmd/internal/postgres"
	"posta.dev/posta/deploy/image"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
	"posta.dev/posta/topology/rundir"
)

// Exit codes. They are part of the interface, and --help lists them.
const (
	OK          = 0
	Failed      = 1
	Usage       = 2
	NoCluster   = 3
	Session     = 4
	InUse       = 5
	Finished    = 6
	Superseded  = 7
	Interrupted = 130
)

// Help is the text about exit codes in the help of every command.
const Help = `Exit codes: 0 done, 1 failed, 2 wrong use, bad input or not permitted, 3 no cluster answers, 4 the session failed, was cancelled, closed or
is not known, 5 another client uses the session, 6 the session is finished already, 7 another client took it
over, 130 interrupted.`

// usageError reports wrong use of a command.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// Usagef returns an error of wrong use, which has the code Usage.
func Usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// ErrInterrupted is the cause with which contexts end at a signal.
var ErrInterrupted = errors.New("interrupted")

// ErrNothingAnswers is for commands that reach a cluster without package client, by its heartbeats.
var ErrNothingAnswers = errors.New("no cluster answers")

// Code looks for the most specific meaning first.
func Code(err error) int {
	var usage *usageError
	var mistakes topology.Errors
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
	switch {
	case is(ErrInterrupted, context.Canceled):
		return Interrupted
	case is(client.ErrNoCluster, ErrNothingAnswers, rundir.ErrNotUp):
		return NoCluster
	case is(protocol.ErrInUse, journal.ErrInUse):
		return InUse
	case is(protocol.ErrFinished):
		return Finished
	case is(protocol.ErrSuperseded):
		return Superseded
	case isStray(protocol.FieldsOf(err)):
		return Usage
	case is(protocol.ErrFailed, protocol.ErrCancelled, protocol.ErrExpired, protocol.ErrClosed, protocol.ErrUnknownSession,
		client.ErrInterrupted):
		return Session
	case errors.As(err, &usage), errors.As(err, &mistakes):
		return Usage
	case is(analyses.ErrUnknown, analyses.ErrBadParam, client.ErrInput, client.ErrNoFiles, client.ErrDamaged, client.ErrConfig,
		client.ErrRefused, session.ErrBadID,
		topology.ErrNoText, inspect.ErrRejected, journal.ErrUse, out.ErrUse, postgres.ErrUse, image.ErrNoProgram, image.ErrNotStatic,
		topology.ErrNoNode,
		topology.ErrNoStage, protocol.ErrUnknownAnalysis, protocol.ErrBadParam, protocol.ErrForbidden, fs.ErrNotExist, syscall.ENOTDIR):
		return Usage
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) && is(fs.ErrPermission, syscall.EISDIR, syscall.EROFS, syscall.ENAMETOOLONG,
		syscall.ENXIO) {
		return Usage // a flag names a file that cannot be used
	}
	return Failed
}

// Lines returns an error as lines for people, escaped.
func Lines(err error) (lines []string) {
	if Code(err) == Interrupted {
		return []string{"interrupted"}
	}
	var mistakes topology.Errors
	if errors.As(err, &mistakes) {
		for _, m := range mistakes {
			lines = append(lines, OneLine(m))
		}
		return lines
	}
	// the line breaks stay, so that the caret is below its line
	if protocol.FieldsOf(err)[protocol.FieldCause] == syntax.CauseStatement {
		for line := range strings.SplitSeq(Text(err), "\n") {
			lines = append(lines, display.Escape(line))
		}
		return lines
	}
	return []string{OneLine(err)}
}

// SaidError is an error that has been shown already and only determines the exit code.
type SaidError struct{ error }

// Said returns a SaidError.
func Said(err error) error { return &SaidError{err} }

func (e *SaidError) Unwrap() error { return e.error }

// OneLine joins the parts of a joined error and escapes what could move a cursor.
func OneLine(err error) string {
	var parts []string
	for part := range strings.SplitSeq(Text(err), "\n") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, display.Escape(part))
		}
	}
	return strings.Join(parts, "; ")
}

// ErrTimeout is the cause with which a run ends after --timeout.
var ErrTimeout = errors.New("not finished in time")

// UndeliveredError is the error of a right answer that cannot be written to its destination. The nodes' logs do not mention it.
type UndeliveredError struct{ error }

// Undelivered returns an UndeliveredError.
func Undelivered(err error) error { return UndeliveredError{err} }

func (u UndeliveredError) Unwrap() error { return u.error }
