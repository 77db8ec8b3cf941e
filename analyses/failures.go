package analyses

import (
	"fmt"
	"strconv"

	"posta.dev/posta/protocol"
)

// InRow adds the place of a row to an error that fails the session.
func InRow(err error, file string, line uint64) error {
	return protocol.With(fmt.Errorf("%s, line %d: %w", file, line, err), place(file, line))
}

// BehindRow is InRow if it is only known that the row comes in this line or behind it.
func BehindRow(err error, file string, line uint64) error {
	at := place(file, line)
	at[protocol.FieldNear] = "yes"
	return protocol.With(fmt.Errorf("%s, at or behind line %d: %w", file, line, err), at)
}

func place(file string, line uint64) protocol.Fields {
	return protocol.Fields{protocol.FieldFile: file, protocol.FieldLine: strconv.FormatUint(line, 10)}
}

// LargeReference marks the error of a joiner that cannot keep what the session's reference streams need.
func LargeReference(err error) error {
	return protocol.With(err, protocol.Fields{protocol.FieldCause: causeReference})
}

// causeReference is the cause of a session that failed with an error of [LargeReference].
const causeReference = "reference_memory"

// IsLargeReference reports whether a session failed with an error that [LargeReference] has marked.
func IsLargeReference(err error) bool {
	return protocol.FieldsOf(err)[protocol.FieldCause] == causeReference
}
