package exit

import (
	"fmt"
	"maps"
	"strings"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

// Text returns the text of an error. For a session that failed because of a row it begins with what people need: what is wrong, and where.
// The session and the node come last, and not at all if the mistake is in a file.
func Text(err error) string { return text(err, protocol.Fields{}) }

// text is Text for an error within others, whose fields are those around it.
func text(err error, around protocol.Fields) string {
	f := protocol.FieldsOf(err)
	if !isStray(f) && !isFailedStatement(f) {
		return err.Error()
	}
	maps.Copy(around, protocol.OwnFields(err))
	switch {
	case isStray(around):
		return sayStrayQuote(around)
	case isFailedStatement(around):
		return sayStatement(around)
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		_, behind, _ := strings.Cut(err.Error(), e.Unwrap().Error())
		return text(e.Unwrap(), around) + behind
	case interface{ Unwrap() []error }:
		all := err.Error()
		for _, one := range e.Unwrap() {
			all = strings.Replace(all, one.Error(), text(one, maps.Clone(around)), 1)
		}
		return all
	}
	return err.Error()
}

// isFailedStatement reports whether a statement failed in a node, and was not refused here.
func isFailedStatement(f protocol.Fields) bool {
	return f[protocol.FieldCause] == syntax.CauseStatement && f[protocol.FieldNode] != "" && f[protocol.FieldText] != ""
}

func sayStatement(f protocol.Fields) string {
	out := f[protocol.FieldText] + "\n"
	if f[protocol.FieldFile] != "" {
		where := "line"
		if f[protocol.FieldNear] != "" {
			where = "at or behind line"
		}
		out += fmt.Sprintf("    The row is in %s, %s %s; a condition in WHERE or CASE can leave it out.\n", f[protocol.FieldFile], where,
			f[protocol.FieldLine])
	}
	at := f[protocol.FieldNode]
	if f[protocol.FieldSession] != "" {
		at = "session " + f[protocol.FieldSession] + ", " + at
	}
	return named(f, out+"    ("+at+")")
}

// named puts the name of the statement in front, if several were asked.
func named(f protocol.Fields, text string) string {
	if name := f[protocol.FieldStatement]; name != "" {
		return name + ": " + text
	}
	return text
}

// isStray reports whether a session failed because of a stray quote, which is a mistake in the file.
func isStray(f protocol.Fields) bool {
	return f[protocol.FieldCause] == csv.CauseStrayQuote && f[protocol.FieldText] != ""
}

func sayStrayQuote(f protocol.Fields) string {
	file := f[protocol.FieldFile]
	out := fmt.Sprintf("%s, line %s: %s", file, f[protocol.FieldLine], f[protocol.FieldText])
	if f[protocol.FieldAnalysis] == "sql" && f["closed"] == "true" {
		out += "; if the field is one text, read the file with read_csv('" + strings.ReplaceAll(file, "'", "''") + "', multiline = true)"
	}
	return named(f, out)
}
