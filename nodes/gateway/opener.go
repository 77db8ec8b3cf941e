package gateway

import (
	"fmt"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// Closed returns the outcome of a session that was closed: its answers are gone.
func Closed(id session.ID) Outcome {
	return Outcome{Code: protocol.ErrClosed, Reason: fmt.Sprintf(
		"session %s was closed and its answers are gone: run it again under another id", id)}
}

// Foreign refuses a client whose token is not the opener's while the session runs (R17). Nothing has changed.
func Foreign(id session.ID, openers session.Openers, asks session.TokenHash) protocol.Reply {
	if openers.Superseded(asks) {
		return protocol.Refuse(protocol.ErrSuperseded, fmt.Sprintf(
			"another client has taken session %s over from this one: leave it to that client, or wait for its answers with `posta results %s`", id,
			id))
	}
	return protocol.Refuse(protocol.ErrInUse, fmt.Sprintf(
		"another client opened session %s, and it runs: choose another session id, or wait for its answers with `posta results %s`", id, id))
}

// Finished refuses a client whose token is not the opener's after the session has finished (R17).
func Finished(id session.ID) protocol.Reply {
	return protocol.Refuse(protocol.ErrFinished, fmt.Sprintf(
		"another client ran session %s, and it is finished: fetch its answers with `posta results %s`, or choose another session id", id, id))
}

// Refusal returns the answer to a client that is not the opener (R17).
func (s Tombstone) Refusal(id session.ID) protocol.Reply {
	if s.Failed() {
		return s.Outcome.Refusal()
	}
	return Finished(id)
}
