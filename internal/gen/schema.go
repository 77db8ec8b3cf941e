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
			all = append(all, tableOf(line))
		}
	case "h2o":
		all = append(all, tableOf("x id1 TEXT id2 TEXT id3 TEXT id4 INTEGER id5 INTEGER id6 INTEGER v1 INTEGER v2 INTEGER v3 DOUBLE"))
	}
	return all
}

// tableOf reads the name of a table, and of each column name and type.
func tableOf(line string) Table {
	words := strings.Fields(line)
	t := Table{File: words[0]}
	for i := 1; i < len(words); i += 2 {
		t.Columns = append(t.Columns, Column{words[i], words[i+1]})
	}
	return t
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
