package call

import (
	"errors"
	"fmt"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/topology"
)

// SayError prints an error in one line. Mistakes in a topology get a line each, in the form that editors jump to. A mistake in a statement
// is shown within the statement.
func (x *Call) SayError(err error) {
	if x.Events != nil {
		x.Events.failed(err)
	}
	var quiet *exit.SaidError
	if errors.As(err, &quiet) {
		return
	}
	var mistakes topology.Errors
	each := exit.Code(err) != exit.Interrupted && errors.As(err, &mistakes)
	for i, line := range exit.Lines(err) {
		if i == 0 || each {
			line = "posta: " + line
		}
		fmt.Fprintln(x.Err, line)
	}
}
