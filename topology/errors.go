package topology

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNoNode is wrapped by Topology.Node if no node has the given name.
var ErrNoNode = errors.New("no such node")

// ErrNoStage is wrapped by Topology.Stage and by Generate if no stage has the given name.
var ErrNoStage = errors.New("no such stage")

// Pos is a place in the file. Lines and columns are counted from 1, and columns in characters.
type Pos struct{ Line, Col int }

// Error is one mistake in a topology file.
type Error struct {
	File string // the name that was given to Load or Parse
	Pos  Pos
	What string // what is wrong
	Fix  string // what to write instead
}

// Error has the form of compilers' errors, so that editors can jump to the place.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s; %s", e.File, e.Pos.Line, e.Pos.Col, e.What, e.Fix)
}

// Errors are all mistakes found in a file, sorted by place. Load and Parse return it whenever the text was readable; use errors.As to get
// it.
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

// err sorts the mistakes by place and drops repeated ones. It returns nil if there are none. (A nil Errors in an error would not be nil.)
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
