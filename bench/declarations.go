package bench

import (
	"fmt"
	"strings"

	"posta.dev/posta/client/source/parquet/generated"
	"posta.dev/posta/internal/gen"
)

// declarations are the statements before a statement that tell Posta and DuckDB the types of the tables. DIRECTORY stands for the files'
// directory.
type declarations struct {
	ours, theirs string
	columns      map[string][]string // names, by table
}

// declare declares the tables of data that gen makes. Both programs find the types in Parquet themselves.
func (c *Config) declare(data string) (d declarations) {
	d.columns = map[string][]string{}
	for _, t := range gen.Schema(data) {
		var ours, theirs []string
		for _, column := range t.Columns {
			ours = append(ours, column.Name+" "+column.Type)
			theirs = append(theirs, fmt.Sprintf("'%s': '%s'", column.Name, column.Type))
			d.columns[t.File] = append(d.columns[t.File], column.Name)
		}
		if c.Format == generated.Parquet {
			d.theirs += fmt.Sprintf("CREATE VIEW %s AS SELECT * FROM read_parquet('DIRECTORY/%[1]s.parquet');\n", t.File)
			continue
		}
		d.ours += fmt.Sprintf("CREATE TABLE %s FROM '%[1]s.%s' (%s);\n", t.File, c.Format, strings.Join(ours, ", "))
		read := "read_csv('DIRECTORY/%[1]s.csv', auto_detect = false, header = true, delim = ',', quote = '\"', allow_quoted_nulls = false, "
		if c.Format == generated.JSONL {
			read = "read_json('DIRECTORY/%[1]s.jsonl', format = 'newline_delimited', "
		}
		d.theirs += fmt.Sprintf("CREATE VIEW %s AS SELECT * FROM "+read+"columns = {%s});\n", t.File, strings.Join(theirs, ", "))
	}
	return d
}
