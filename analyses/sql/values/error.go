package values

import (
	"fmt"

	"posta.dev/posta/analyses/sql/syntax"
)

// Error says that a value cannot be computed. At is the place in the statement. File is empty if the row does not come straight from a
// table.
type Error struct {
	At      syntax.Pos
	File    string
	Line    int64
	Message string
}

func (e *Error) Error() string {
	if e.File == "" {
		return e.Message
	}
	return fmt.Sprintf("%s, line %d: %s", e.File, e.Line, e.Message)
}
