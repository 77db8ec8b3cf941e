package question

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"posta.dev/posta/analyses/sql/infer"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// explainText adds to an error about a TEXT column which value made the column a TEXT, if samples also hold values of another type. Often
// one row of a file is wrong, and not the statement.
func (q *Question) explainText(ctx context.Context, e *syntax.Error) {
	if !e.Text {
		return
	}
	for _, column := range e.Columns {
		if q.valueless(column) {
			e.Message += fmt.Sprintf(": %s is TEXT because no sample of the files has a value of it", column)
			e.Hint = strings.TrimSpace("Declare its type: CREATE TABLE t FROM 'pattern' (" + syntax.PrintName(column) + " DOUBLE, …). " + e.Hint)
			return
		}
		var why infer.Value
		others, found := types.Null, 0
		for _, t := range q.tables {
			if t.sampled == nil {
				continue
			}
			if v, k, ok := t.sampled.Because(column); ok {
				why, others = v, k
				found++
			}
		}
		if found != 1 { // with two such tables it is not clear which one is meant
			continue
		}
		e.Message += fmt.Sprintf(": %s is TEXT because of %q in %s", column, why.Text, why.File)
		if line := lineOf(ctx, why.Place); line > 0 {
			e.Message += fmt.Sprintf(":%d", line)
		}
		way := fmt.Sprintf("TRY_CAST(%s AS %s) makes NULL of such values.", syntax.PrintName(column), others)
		if infer.Large([]byte(why.Text)) {
			way = fmt.Sprintf("CAST(%s AS DOUBLE) rounds such values.", syntax.PrintName(column))
		}
		e.Hint = strings.TrimSpace(way + " " + e.Hint)
		return
	}
}

// Notes returns what the user should know of the tables although nothing is wrong: which files are not UTF-8, which columns of numbers are
// TEXT, as they sort and compare as such, which round large integers, and which have values that are read without the blanks around them.
func (q *Question) Notes() (told []string) {
	for _, t := range q.tables {
		told = append(told, t.encodings...)
		if t.sampled == nil {
			continue
		}
		for _, c := range t.sampled.Columns() {
			if v, ok := t.sampled.Trimmed(c.Name); ok {
				told = append(told, fmt.Sprintf(
					"column %s of %s is %s, read without blanks around its values, such as %q in %s; declare the column as TEXT to keep them",
					c.Name, t.Name, c.Type, v.Text, v.File))
			}
			if why, _, ok := t.sampled.Because(c.Name); ok && infer.Large([]byte(why.Text)) {
				told = append(told, fmt.Sprintf("column %s of %s is TEXT, since %s holds an integer beyond BIGINT, %s; CAST(%s AS DOUBLE) rounds it",
					c.Name, t.Name, why.File, why.Text, syntax.PrintName(c.Name)))
			}
			if v, ok := t.sampled.Blanked(c.Name); ok {
				told = append(told, fmt.Sprintf(
					"column %s of %s has values like %q in %s: blanks in front of a quote make it a part of the text; remove the blanks",
					c.Name, t.Name, v.Text, v.File))
			}
			if v, ok := t.sampled.Rounded(c.Name); ok {
				told = append(told, fmt.Sprintf("column %s of %s is DOUBLE, since it has fractions, and rounds integers beyond BIGINT, such as %s "+
					"in %s; declare it as TEXT to keep them",
					c.Name, t.Name, v.Text, v.File))
			}
		}
	}
	return told
}

// valueless reports whether a column is TEXT because samples have no value of it.
func (q *Question) valueless(column string) bool {
	found := 0
	for _, t := range q.tables {
		if t.sampled == nil {
			continue
		}
		if c := t.sampled.Column(column); c != nil && (c.Type != types.Type{} || c.Why != "") {
			return false // it may be this one that is meant
		} else if c != nil {
			found++
		}
	}
	return found > 0
}

// explainUnread adds to an error about a column that is not read what the column is, and how the statement does without it.
func (q *Question) explainUnread(e *syntax.Error) {
	if e.Unread == "" {
		return
	}
	for _, t := range q.tables {
		if t.sampled == nil {
			continue
		}
		c := t.sampled.Column(e.Unread)
		if c == nil || c.Why == "" {
			continue
		}
		name := syntax.PrintName(c.Name)
		e.Message = fmt.Sprintf("the column %s of %s is %s, which is not read", c.Name, t.Name, c.Why)
		e.Hint = fmt.Sprintf("Name the columns that are needed, or leave this one out: * EXCLUDE (%s).", name)
		if strings.HasPrefix(c.Why, "a DECIMAL") {
			e.Hint += fmt.Sprintf(" CREATE TABLE t FROM '%s' (%s TEXT) reads its digits as text.", strings.ReplaceAll(t.Files, "'", "''"), name)
		}
		return
	}
}

// lineOf returns the line of a value in its file; 0 if it is not known. The lines before a sample are counted only here, as nobody else
// needs their number.
func lineOf(ctx context.Context, at infer.Place) uint64 {
	if at.Offset == 0 {
		return at.Line
	}
	f, err := os.Open(at.File)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }() // read only
	line, piece := at.Line, make([]byte, 256<<10)
	for rest := at.Offset; rest > 0; {
		n, err := f.Read(piece[:min(rest, int64(len(piece)))])
		if err != nil || ctx.Err() != nil {
			return 0
		}
		line += uint64(bytes.Count(piece[:n], []byte{'\n'}))
		rest -= int64(n)
	}
	return line
}
