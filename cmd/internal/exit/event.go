package exit

import (
	"context"
	"errors"

	"posta.dev/posta/client/inspect"
	"posta.dev/posta/query"

	"posta.dev/posta/analyses"
	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/topology/rundir"
)

// Event returns one word for a kind of error, for programs. It is a code of the client protocol if a node has sent one.
func Event(err error) string {
	for _, k := range []struct {
		code string
		is   []error
	}{
		{"interrupted", []error{ErrInterrupted, context.Canceled}},
		{"timeout", []error{ErrTimeout}},
		{"refused", []error{client.ErrRefused}},
		{"no_cluster", []error{client.ErrNoCluster, ErrNothingAnswers, rundir.ErrNotUp}},
		{"statement", []error{query.ErrStatement}},
		{"rejected", []error{inspect.ErrRejected}},
		{string(protocol.ErrUnknownAnalysis), []error{analyses.ErrUnknown}},
		{string(protocol.ErrBadParam), []error{analyses.ErrBadParam}},
		{"interrupted_upload", []error{client.ErrInterrupted}},
	} {
		for _, target := range k.is {
			if errors.Is(err, target) {
				return k.code
			}
		}
	}
	var said *protocol.Error
	stray := isStray(protocol.FieldsOf(err))
	switch {
	case errors.As(err, &said) && !stray:
		return string(said.Code)
	case stray, errors.Is(err, client.ErrInput), errors.Is(err, client.ErrNoFiles), errors.Is(err, client.ErrDamaged):
		return "input"
	case Code(err) == Usage:
		return "usage"
	}
	return "other"
}
