package gen

import (
	"strings"
	"testing"
)

// TestSchemaNamesTheColumns: as the files of CSV do.
func TestSchemaNamesTheColumns(t *testing.T) {
	m := tpchData(t, 10, 1)
	if len(Schema("tpch")) != len(m) || len(Schema("bikes")) != 0 {
		t.Errorf("%d tables for %d files", len(Schema("tpch")), len(m))
	}
	for _, table := range Schema("tpch") {
		var names []string
		for _, c := range table.Columns {
			names = append(names, c.Name)
		}
		if line := header(m[table.File+".csv"]); line != strings.Join(names, ",") {
			t.Errorf("%s: %s", table.File, line)
		}
	}
}
