package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/journal"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/cmd/internal/out"
	"posta.dev/posta/cmd/internal/postgres"
	"posta.dev/posta/deploy/image"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// Exit codes. They are part of the interface, and --help lists them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNoCluster   = 3
	exitSession     = 4
	exitInUse       = 5
	exitFinished    = 6
	exitSuperseded  = 7
	exitInterrupted = 130
)

const exitHelp = `Exit codes: 0 done, 1 failed, 2 wrong use, bad input or not permitted, 3 no cluster answers, 4 the session failed, was cancelled, closed or
is not known, 5 another client uses the session, 6 the session is finished already, 7 another client took it
over, 130 interrupted.`

// usageError reports wrong use of a command.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// errNothingAnswers is for commands that reach a cluster without package client, by its heartbeats.
var errNothingAnswers = errors.New("no cluster answers")

// exitCode looks for the most specific meaning first.
func exitCode(err error) int {
	var usage *usageError
	var mistakes topology.Errors
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	switch {
	case is(errInterrupted, context.Canceled):
		return exitInterrupted
	case is(client.ErrNoCluster, errNothingAnswers, local.ErrNotUp):
		return exitNoCluster
	case is(protocol.ErrInUse, journal.ErrInUse):
		return exitInUse
	case is(protocol.ErrFinished):
		return exitFinished
	case is(protocol.ErrSuperseded):
		return exitSuperseded
	case isStray(err):
		return exitUsage
	case is(protocol.ErrFailed, protocol.ErrCancelled, protocol.ErrExpired, protocol.ErrClosed, protocol.ErrUnknownSession,
		client.ErrInterrupted):
		return exitSession
	case errors.As(err, &usage), errors.As(err, &mistakes):
		return exitUsage
	case is(analyses.ErrUnknown, analyses.ErrBadParam, client.ErrInput, client.ErrNoFiles, client.ErrDamaged, client.ErrConfig,
		client.ErrRefused, session.ErrBadID,
		topology.ErrNoText, errRejected, journal.ErrUse, out.ErrUse, postgres.ErrUse, image.ErrNoProgram, image.ErrNotStatic, topology.ErrNoNode,
		topology.ErrNoStage, protocol.ErrUnknownAnalysis, protocol.ErrBadParam, protocol.ErrForbidden, fs.ErrNotExist, syscall.ENOTDIR):
		return exitUsage
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) && is(fs.ErrPermission, syscall.EISDIR, syscall.EROFS, syscall.ENAMETOOLONG,
		syscall.ENXIO) {
		return exitUsage // a flag names a file that cannot be used
	}
	return exitFailed
}

// sayError prints an error in one line. Mistakes in a topology get a line each, in the form that editors jump to. A mistake in a statement
// is shown within the statement.
func (x *command) sayError(err error) {
	if x.events != nil {
		x.events.failed(err)
	}
	var quiet *saidError
	if errors.As(err, &quiet) {
		return
	}
	var mistakes topology.Errors
	each := exitCode(err) != exitInterrupted && errors.As(err, &mistakes)
	for i, line := range errorLines(err) {
		if i == 0 || each {
			line = "posta: " + line
		}
		fmt.Fprintln(x.Err, line)
	}
}

// errorLines returns an error as lines for people, escaped.
func errorLines(err error) (lines []string) {
	if exitCode(err) == exitInterrupted {
		return []string{"interrupted"}
	}
	var mistakes topology.Errors
	if errors.As(err, &mistakes) {
		for _, m := range mistakes {
			lines = append(lines, oneLine(m))
		}
		return lines
	}
	var statement *syntax.Error
	// the line breaks stay, so that the caret is below its line
	if errors.As(err, &statement) || errors.Is(err, protocol.ErrFailed) && strings.Contains(err.Error(), "\n    ") {
		for _, line := range strings.Split(failedStatement(err.Error()), "\n") {
			lines = append(lines, display.Escape(line))
		}
		return lines
	}
	return []string{oneLine(err)}
}

// saidError is an error that has been shown already and only determines the exit code.
type saidError struct{ error }

func (e *saidError) Unwrap() error { return e.error }

// oneLine joins the parts of a joined error and escapes what could move a cursor.
func oneLine(err error) string {
	var parts []string
	for _, part := range strings.Split(strayQuote(err.Error()), "\n") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, display.Escape(part))
		}
	}
	return strings.Join(parts, "; ")
}
