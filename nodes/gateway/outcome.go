package gateway

import (
	"fmt"
	"strings"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// Outcome is what became of a session.
type Outcome struct {
	Code   protocol.Code // empty: it went well
	Reason string        // for people
}

// Failed reports whether the session did not go well.
func (o Outcome) Failed() bool { return o.Code != "" }

// Refusal is the answer to a client that asks for the session.
func (o Outcome) Refusal() protocol.Reply { return protocol.Refuse(o.Code, o.Reason) }

// Cancelled is the outcome of a cancelled session.
func Cancelled(id session.ID) Outcome {
	return Outcome{Code: protocol.ErrCancelled, Reason: fmt.Sprintf("session %s was cancelled", id)}
}

// A failure travels through the pipeline as text: the reason for people, and behind this mark the code for clients.
const codeMark = "\x00"

// Text is how a failure travels in an abort frame.
func (o Outcome) Text() string {
	if o.Code == "" || o.Code == protocol.ErrFailed {
		return o.Reason
	}
	return o.Reason + codeMark + string(o.Code)
}

// ParseOutcome reads what Text wrote. Text without a code is a failure of the analysis or of a node.
func ParseOutcome(text string) Outcome {
	reason, code, ok := strings.Cut(text, codeMark)
	if !ok || code == "" {
		return Outcome{Code: protocol.ErrFailed, Reason: reason}
	}
	return Outcome{Code: protocol.Code(code), Reason: reason}
}

// Append appends an outcome as two values of an array.
func (o Outcome) Append(b []byte) []byte {
	return wire.AppendString(wire.AppendString(b, string(o.Code)), o.Reason)
}

// ReadOutcome reads what Append wrote.
func ReadOutcome(d *wire.Reader) Outcome {
	return Outcome{Code: protocol.Code(d.String()), Reason: d.String()}
}

// ReadID reads the id of a session.
func ReadID(d *wire.Reader) (id session.ID) {
	d.Fixed(id[:])
	return id
}
