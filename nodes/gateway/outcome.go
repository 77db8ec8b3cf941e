package gateway

import (
	"cmp"
	"fmt"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// Outcome is what happened to a session.
type Outcome struct {
	Code   protocol.Code   // empty: it went well
	Reason string          // for people
	Fields protocol.Fields // for programs
}

// Failed reports whether the session did not go well.
func (o Outcome) Failed() bool { return o.Code != "" }

// Refusal is the answer to a client that asks for the session.
func (o Outcome) Refusal() protocol.Reply {
	no := protocol.Reply{Type: protocol.Refused, Err: o.Data()}
	no.Err.Message = o.Reason
	return no
}

// Data is what replies about a failed session say beside the reason.
func (o Outcome) Data() protocol.Error { return protocol.Error{Code: o.Code, Fields: o.Fields} }

// Cancelled returns the outcome of a cancelled session.
func Cancelled(id session.ID) Outcome {
	return Outcome{Code: protocol.ErrCancelled, Reason: fmt.Sprintf("session %s was cancelled", id)}
}

// OutcomeOf turns a role's outcome into a gateway's. A failure without a code comes from the analysis or a node.
func OutcomeOf(why role.Outcome) Outcome {
	if !why.Failed {
		return Outcome{}
	}
	return Outcome{Code: cmp.Or(why.Code, protocol.ErrFailed), Reason: why.Reason, Fields: why.Fields}
}

// ForRole turns the outcome into the form in which it travels through the pipeline.
func (o Outcome) ForRole() role.Outcome {
	return role.Outcome{Failed: o.Failed(), Code: o.Code, Reason: o.Reason, Fields: o.Fields}
}

// Append appends an outcome as two values of an array.
func (o Outcome) Append(b []byte) []byte {
	return protocol.AppendReason(wire.AppendString(b, string(o.Code)), o.Reason, o.Fields)
}

// ReadOutcome reads what Append wrote.
func ReadOutcome(d *wire.Reader) (o Outcome) {
	o.Code = protocol.Code(d.String())
	o.Reason, o.Fields = protocol.ReadReason(d)
	return o
}

// ReadID reads the id of a session.
func ReadID(d *wire.Reader) (id session.ID) {
	d.Fixed(id[:])
	return id
}
