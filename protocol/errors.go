package protocol

import (
	"errors"
	"fmt"
	"time"
)

// ErrInvalid is wrapped by the errors of [DecodeRequest] and [DecodeReply]: the frame violates the protocol. A node answers such
// a request with [ErrBadRequest].
var ErrInvalid = errors.New("not in the client protocol")

// Code is the kind of error that a node answered with. It is an error itself, so that errors.Is(err, protocol.ErrBusy) finds
// it in an [Error].
type Code string

// The codes, with the requests that they answer.
const (
	ErrBusy            Code = "busy"             // open: limits.sessions are running; try again after RetryAfter
	ErrUnknownSession  Code = "unknown_session"  // this node never knew the session, or it was closed long ago
	ErrUnknownAnalysis Code = "unknown_analysis" // open: the cluster has no such analysis
	ErrBadParam        Code = "bad_param"        // open: the analysis has no such parameter, or refuses its value
	ErrExpired         Code = "expired"          // the client was silent for too long, or the results were not kept any longer
	ErrFailed          Code = "failed"           // the session failed; the message is the reason
	ErrCancelled       Code = "cancelled"        // the session was cancelled
	ErrBadRequest      Code = "bad_request"      // the request is malformed or contradicts an earlier one
	ErrGap             Code = "gap"              // chunk, end: chunks before this one are missing; Want is the next expected
	// chunk, end: the stream has already ended; any: the session was closed, and its answers are gone
	ErrClosed     Code = "closed"
	ErrInUse      Code = "in_use"     // another client has opened the session, which runs; nothing has changed
	ErrFinished   Code = "finished"   // open: the session of this id, which another client opened, has ended; ask for its results
	ErrSuperseded Code = "superseded" // any: another client has taken the session over; this client stops and cancels nothing
	ErrTooLarge   Code = "too_large"  // the request or its answer is larger than limits.frame; the message has both sizes
	ErrForbidden  Code = "forbidden"  // any: the client's role does not allow the request (S5); nothing has changed
	// read: the input does not read this file, and has taken nothing of it; send it in chunks, or ask another input
	ErrNotHere Code = "not_here"
	// any: the session failed because a file that an input reads has changed, or is not what it should be
	ErrBadInput  Code = "bad_input"
	ErrWrongNode Code = "wrong_node" // ask an input (or output) instead; the reply lists them
)

// Error returns the code's text.
func (c Code) Error() string { return string(c) }

// Error is a node's error reply.
type Error struct {
	Code       Code
	Message    string        // what is wrong, and what to do
	RetryAfter time.Duration // with busy: when to try again; 0 leaves it to the client
	Want       uint64        // with gap: the sequence number that is expected
	Fields     Fields        // with the codes of a failed session: what programs should know of the reason; nil: nothing
}

// Error returns the message with its code.
func (e *Error) Error() string {
	if e.Message == "" {
		return string(e.Code)
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Code)
}

// Is makes errors.Is(err, code) true for this error's code.
func (e *Error) Is(target error) bool { return target == error(e.Code) }
