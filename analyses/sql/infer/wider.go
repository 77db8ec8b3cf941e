package infer

import (
	"fmt"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/protocol"
)

// Wider says that the type that samples gave a column does not hold one of its values.
type Wider struct {
	Table, Column string
	Was, Is       types.Kind
	Value         string
}

// causeWider is the cause of a session that failed with a Wider.
const causeWider = "wider_type"

// mostQuoted bounds how many bytes of a value a message quotes.
const mostQuoted = 40

func (w *Wider) Error() string {
	return fmt.Sprintf("column %q of table %q is %s in the samples, and %s is needed for %q", w.Column, w.Table, w.Was, w.Is, w.quoted())
}

func (w *Wider) quoted() string { return w.Value[:min(len(w.Value), mostQuoted)] }

// Fields is what [WiderOf] reads.
func (w *Wider) Fields() map[string]string {
	return map[string]string{protocol.FieldCause: causeWider, "table": w.Table, "column": w.Column, "was": w.Was.String(), "is": w.Is.String(),
		"value": w.quoted()}
}

// WiderOf finds a Wider in the error of a session; nil if it failed for another reason, or if names were too long to travel.
func WiderOf(err error) *Wider {
	f := protocol.FieldsOf(err)
	table, known := f["table"]
	column, named := f["column"]
	if f[protocol.FieldCause] != causeWider || !known || !named {
		return nil
	}
	w := &Wider{Table: table, Column: column, Value: f["value"]}
	for _, change := range widenings {
		if change.was.String() == f["was"] && change.is.String() == f["is"] {
			w.Was, w.Is = change.was, change.is
			return w
		}
	}
	return nil
}

// widenings are the changes of a type that one value can force.
var widenings = []struct{ was, is types.Kind }{{types.BigInt, types.Double}, {types.Date, types.Timestamp}}
