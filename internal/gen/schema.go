package gen

import "strings"

// Table is a file of generated data and its columns.
type Table struct {
	File    string // without its ending
	Columns []Column
}

// Column has a name and a type, as in a CREATE TABLE.
type Column struct{ Name, Type string }

// Schema returns the tables of data whose columns have types that are known in advance. Other data has none.
func Schema(data string) (all []Table) {
	switch data {
	case "hits":
		t := Table{File: "hits"}
		for _, c := range hitsColumns() {
			t.Columns = append(t.Columns, Column{c.name, c.typ})
		}
		all = append(all, t)
	case "tpch":
		for line := range strings.Lines(tpchSchema) {
			words := strings.Split(strings.TrimSpace(line), " ")
			t := Table{File: words[0]}
			for i := 1; i < len(words); i += 2 {
				t.Columns = append(t.Columns, Column{words[i], words[i+1]})
			}
			all = append(all, t)
		}
	}
	return all
}

// firstLine returns the first line of a file of CSV.
func firstLine(data, file string) (b []byte) {
	for _, t := range Schema(data) {
		if t.File == file {
			for _, c := range t.Columns {
				b = append(append(b, c.Name...), ',')
			}
			b[len(b)-1] = '\n'
		}
	}
	return b
}
