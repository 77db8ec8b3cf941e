package protocol

import (
	"errors"
	"maps"
	"slices"
	"unicode/utf8"

	"posta.dev/posta/internal/wire"
)

// Fields say for programs what a failure is about, so that none has to read its text. [FieldCause] is its kind; the rest depends on that.
// docs/protocol.md lists all of them.
type Fields map[string]string

// Names of fields that mean the same for all causes.
const (
	FieldCause     = "cause"     // the kind of the failure; its values stand beside the errors that have them
	FieldText      = "text"      // what is wrong, for people, without the place
	FieldFile      = "file"      // the file of the row that is the reason
	FieldLine      = "line"      // the line of that row
	FieldNear      = "near"      // "yes": the row stands at FieldLine or behind it
	FieldStatement = "statement" // the statement's name, if several were asked; added by the client
	FieldAnalysis  = "analysis"  // of the session
	FieldSession   = "session"   // added by the client
	FieldStage     = "stage"     // where the session failed, as FieldNode
	FieldNode      = "node"
)

// What Fields of one error may be; FieldsOf leaves out what is beyond.
const (
	MaxFields     = 16   // how many
	MaxFieldBytes = 2000 // bytes of all names and values together
)

// fielded is an error that says what it is about. Packages below this one have the method, too, so its map is of no type of here.
type fielded interface{ Fields() map[string]string }

// With returns an error that has fields beside those of err, and the text of err.
func With(err error, f Fields) error {
	if err == nil {
		return nil
	}
	return &withFields{err, f}
}

type withFields struct {
	error
	fields Fields
}

func (e *withFields) Unwrap() error             { return e.error }
func (e *withFields) Fields() map[string]string { return e.fields }

// FieldsOf returns the fields of an error and of all errors that it wraps; the innermost one knows best. It returns nil if there are none.
func FieldsOf(err error) (f Fields) {
	all, size := Fields{}, 0
	collect(err, all)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if n := len(name) + len(all[name]); len(f) < MaxFields && size+n <= MaxFieldBytes {
			size += n
			f.set(name, all[name])
		}
	}
	return f
}

func (f *Fields) set(name, value string) {
	if *f == nil {
		*f = Fields{}
	}
	(*f)[name] = value
}

func collect(err error, all Fields) {
	maps.Copy(all, OwnFields(err))
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		collect(e.Unwrap(), all)
	case interface{ Unwrap() []error }:
		for _, one := range slices.Backward(e.Unwrap()) { // the first one wins
			collect(one, all)
		}
	}
}

// OwnFields returns the fields of an error without those of the errors that it wraps.
func OwnFields(err error) Fields {
	switch e := err.(type) {
	case *Error:
		return e.Fields
	case fielded:
		return e.Fields()
	}
	return nil
}

// Size is about how many bytes the fields take.
func (f Fields) Size() (n int) {
	for name, value := range f {
		n += len(name) + len(value) + 2
	}
	return n
}

// append appends a map. A value that is not UTF-8, such as the name of a column, is a bin.
func (f Fields) append(b []byte) []byte {
	b = wire.AppendMap(b, len(f))
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if b = wire.AppendString(b, name); utf8.ValidString(f[name]) {
			b = wire.AppendString(b, f[name])
		} else {
			b = wire.AppendBin(b, []byte(f[name]))
		}
	}
	return b
}

// AppendFailure appends an error with its fields, for [ReadFailure].
func AppendFailure(b []byte, err error) []byte { return AppendReason(b, err.Error(), FieldsOf(err)) }

// ReadFailure makes an error of what AppendFailure wrote. Bytes of another form are the text of the error.
func ReadFailure(b []byte) error {
	d := wire.NewReader(b)
	reason, f := ReadReason(&d)
	if d.Done() != nil {
		return errors.New(string(b))
	}
	return With(errors.New(reason), f)
}

// AppendReason appends why something failed, as one value: the text, or an array of the text and fields. So what programs have written that
// knew no fields is read as it was meant.
func AppendReason(b []byte, reason string, f Fields) []byte {
	if len(f) == 0 {
		return wire.AppendString(b, reason)
	}
	return f.append(wire.AppendString(wire.AppendArray(b, 2), reason))
}

// ReadReason reads what AppendReason wrote.
func ReadReason(d *wire.Reader) (reason string, f Fields) {
	if !d.AtArray() {
		return d.String(), nil
	}
	d.ArrayOf(2)
	reason = d.String()
	n := d.Map()
	if n > MaxFields {
		d.Fail("%d fields of a failure; at most %d are taken", n, MaxFields)
	}
	for ; n > 0 && d.Err() == nil; n-- {
		name := d.String()
		f.set(name, d.String())
	}
	return reason, f
}
