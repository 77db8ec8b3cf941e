// Package corpus reads and answers a corpus of SQL statements, each with its answer. DuckDB gave the same answers when the files
// were written.
//
// The files are in analyses/sql/testdata/corpus: statements by subject (*.txt), and the tables that they read (a folder with CSV
// files, and tables.sql, which declares them). The rivals' module writes them (see bench/rivals/sqldiff/corpus_test.go), and the
// test of analyses/sql/corpus answers each statement without DuckDB: as one node does, and as several nodes do, which crash and
// cut files anywhere. So an engine can be rebuilt without a C compiler at hand.
//
// A file has records with an empty line between them:
//
//	tables w1              the folder of the tables that the following queries read; "tables -" for none
//
//	differs REASON         before a query: DuckDB's answer differs, on purpose
//	query BIGINT VARCHAR   the types of the columns
//	SELECT …
//	----
//	1	"a"                rows in their order, with a tab between cells
//
//	error                  a statement that is refused
//	SELECT …
//	----
//	there is no column x   the first line of the message
package corpus

import (
	"fmt"
	"strconv"
	"strings"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// Record is a statement and its answer.
type Record struct {
	Line    int    // where the record begins in its file
	Tables  string // the folder of its tables, "-" for none
	Differs string // why DuckDB's answer differs, "" if it does not
	Text    string
	Types   string   // the types of the columns, separated by blanks; "" if the statement is refused
	Rows    []string // the rows, or the message that refuses the statement
	Refused bool
}

// Parse reads a file. The error names the line.
func Parse(text string) (records []Record, err error) {
	lines, tables, differs := strings.Split(text, "\n"), "-", ""
	for i := 0; i < len(lines); i++ {
		word, rest, _ := strings.Cut(lines[i], " ")
		switch word {
		case "", "#":
		case "tables":
			tables = rest
		case "differs":
			differs = rest
		case "query", "error":
			r := Record{Line: i + 1, Tables: tables, Differs: differs, Types: rest, Refused: word == "error"}
			differs = ""
			var statement []string
			for i++; i < len(lines) && lines[i] != "----"; i++ {
				statement = append(statement, lines[i])
			}
			if i == len(lines) {
				return nil, fmt.Errorf("line %d: the statement does not end: write a line ---- behind it", r.Line)
			}
			for i++; i < len(lines) && lines[i] != ""; i++ {
				r.Rows = append(r.Rows, lines[i])
			}
			r.Text = strings.Join(statement, "\n")
			records = append(records, r)
		default:
			return nil, fmt.Errorf("line %d: %q is not a word of a corpus: tables, differs, query or error", i+1, word)
		}
	}
	return records, nil
}

// Append writes a record in the form that Parse reads. Its tables are not written.
func (r Record) Append(b []byte) []byte {
	if r.Differs != "" {
		b = fmt.Appendf(b, "differs %s\n", r.Differs)
	}
	if r.Refused {
		b = append(b, "error\n"...)
	} else {
		b = fmt.Appendf(b, "query %s\n", r.Types)
	}
	b = fmt.Appendf(b, "%s\n----\n", r.Text)
	for _, row := range r.Rows {
		b = append(append(b, row...), '\n')
	}
	return append(b, '\n')
}

// Types writes the types of columns as a record has them.
func Types(fields []plan.Field) string {
	var list []string
	for _, f := range fields {
		list = append(list, strings.ReplaceAll(f.Type.String(), " ", ""))
	}
	return strings.Join(list, " ")
}

// Rows writes the rows of a session's answer as a record has them. Texts are quoted, and a DOUBLE has as many digits as tell it
// from every other one.
func Rows(rows [][]any, fields []plan.Field) []string {
	var out []string
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, v := range row {
			switch v := v.(type) {
			case nil:
				cells[i] = "NULL"
			case float64:
				cells[i] = strconv.FormatFloat(v, 'g', -1, 64)
			case string:
				if cells[i] = v; fields[i].Type.Kind == types.Text || fields[i].Type.Kind == types.TextList {
					cells[i] = strconv.Quote(v)
				}
			default:
				cells[i] = fmt.Sprint(v)
			}
		}
		out = append(out, strings.Join(cells, "\t"))
	}
	return out
}
