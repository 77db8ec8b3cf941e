package topology

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNoNode is wrapped by Topology.Node when no node has the name asked for.
var ErrNoNode = errors.New("no such node")

// ErrNoStage is wrapped by Topology.Stage and by Generate when no stage has the name asked for.
var ErrNoStage = errors.New("no such stage")

// Pos is a place in the file, both counted from 1, columns in characters.
type Pos struct{ Line, Col int }

// Error is one mistake in a topology file.
type Error struct {
	File string // as it was given to Load or Parse
	Pos  Pos
	What string // what is wrong
	Fix  string // what to write instead
}

// Error has the form compilers use, so that editors jump to the place.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s; %s", e.File, e.Pos.Line, e.Pos.Col, e.What, e.Fix)
}

// Errors is every mistake found in a file, sorted by place. Load and Parse return it whenever the text was readable;
// take it apart with errors.As.
type Errors []*Error

// Error gives one line per mistake.
func (es Errors) Error() string {
	return strings.Join(texts(es, (*Error).Error), "\n")
}

// Unwrap lets errors.As find a single Error.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// findings collects mistakes while the layers run.
type findings struct {
	file string
	list Errors
}

func (f *findings) add(at Pos, what, instead string) {
	f.list = append(f.list, &Error{File: f.file, Pos: at, What: what, Fix: instead})
}

// err sorts by place and drops what was said twice; nil when nothing was found. (A nil Errors in an error would not be nil.)
func (f *findings) err() error {
	if len(f.list) == 0 {
		return nil
	}
	slices.SortStableFunc(f.list, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	f.list = slices.CompactFunc(f.list, func(a, b *Error) bool { return *a == *b })
	return f.list
}
