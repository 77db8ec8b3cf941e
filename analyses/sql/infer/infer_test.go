package infer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

// show lists columns as "name TYPE", with ? for those that a file lacks.
func show(columns []Column) string {
	var out []string
	for _, c := range columns {
		text := c.Name + " " + c.Type.String()
		if c.Missing {
			text += "?"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestTypesOfSamples(t *testing.T) {
	for _, c := range []struct{ name, header, rows, want string }{
		{"integers", "a", "1\n-2\n+3\n0\n", "a BIGINT"},
		{"numbers", "a,b", "1,1.5\n2.25,3\n", "a DOUBLE, b DOUBLE"},
		{"exponents", "a", "1e5\n-2.5E-3\n", "a DOUBLE"},
		{"leading zeros", "zip,f", "02134,0.5\n2134,00.5\n", "zip TEXT, f TEXT"},
		{"a zero alone", "a", "0\n-0\n", "a BIGINT"},
		{"dates", "a,b,c", "2024-02-29,2024-01-01,2024-01-01 10:00\n2024-03-01,2024-01-01 10:11:12.5,2024-01-02T11:12:13Z\n",
			"a DATE, b TIMESTAMP, c TIMESTAMP"},
		{"a day that is none", "a", "2023-02-29\n", "a TEXT"},
		{"dates of other forms", "a,b", "01/02/2024,2024/01/02\n", "a TEXT, b TEXT"},
		{"booleans", "a,b", "true,t\nFALSE,f\n", "a BOOLEAN, b TEXT"},
		{"empty is NULL", "a,b", ",1\n2,\n", "a BIGINT, b BIGINT"},
		{"quoted and empty is text", "a", "\"\"\n1\n", "a TEXT"},
		{"quoted numbers", "a", "\"1\"\n\"2\"\n", "a BIGINT"},
		{"no values", "a,b", ",1\n,2\n", "a TEXT, b BIGINT"},
		{"mixed", "a,b", "1,true\nx,1\n", "a TEXT, b TEXT"},
		{"blanks around numbers and dates", "a,b,c", " 1,2.5\t, 2024-01-02\n2 , 7 ,2024-02-29 \n", "a BIGINT, b DOUBLE, c DATE"},
		{"blanks around other texts", "a,b,c", " true, 007,  \ntrue , 7, \n", "a TEXT, b TEXT, c TEXT"},
		{"words of numbers", "a", "nan\ninf\n1\n", "a TEXT"},
		{"a line feed in a field", "a,b", "\"x\ny\",1\n\"z\",2\n", "a TEXT, b BIGINT"},
		{"short rows", "a,b", "1,2\n3\n4,5\n", "a BIGINT, b BIGINT"},
		{"broken quotes", "a,b", "1,2\n\"3\"x,y\n4,5\n", "a BIGINT, b BIGINT"},
		{"blanks and dots in names", "Total Amount,a.b,\"x,y\",\"q\"\"q\"", "1,2,3,4\n",
			"Total Amount BIGINT, a.b BIGINT, x,y BIGINT, q\"q BIGINT"},
		{"equal names", "a,A,a", "1,x,2.5\n", "a BIGINT, A_1 TEXT, a_2 DOUBLE"},
		{"a byte order mark", "\xef\xbb\xbfa,b", "1,2\n", "a BIGINT, b BIGINT"},
		{"no name", ",b,", "1,2,3\n", "column0 BIGINT, b BIGINT, column2 BIGINT"},
		{"a marked header", "\x1e;la;b", "1;2.5\n", "a BIGINT, b DOUBLE"},
	} {
		var tab Table
		if err := tab.File("t.csv", []byte(c.header)); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		tab.Rows([]byte(c.header), []byte(c.rows))
		if got := show(tab.Columns()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestColumnsOfSeveralFiles(t *testing.T) {
	var tab Table
	for _, f := range []struct{ header, rows string }{{"id,km", "1,2\n"}, {"KM,id,city", "2.5,7,x\n"}, {"id,km", "8,9\n"}} {
		if err := tab.File("t.csv", []byte(f.header)); err != nil {
			t.Fatal(err)
		}
		tab.Rows([]byte(f.header), []byte(f.rows))
	}
	if got, want := show(tab.Columns()), "id BIGINT, km DOUBLE, city TEXT?"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := tab.File("broken.csv", []byte("\"a")); err == nil || !strings.Contains(err.Error(), "broken.csv") {
		t.Errorf("a broken header: %v", err)
	}
}

func TestManyColumns(t *testing.T) {
	var names, values []string
	for i := range 1500 {
		names, values = append(names, fmt.Sprintf("c%d", i)), append(values, fmt.Sprint(i))
	}
	var tab Table
	header := []byte(strings.Join(names, ","))
	if err := tab.File("wide.csv", header); err != nil {
		t.Fatal(err)
	}
	tab.Rows(header, []byte(strings.Join(values, ",")+"\n"))
	if c := tab.Columns(); len(c) != 1500 || c[1499].Type.Kind != types.BigInt {
		t.Errorf("%d columns, the last is %v", len(c), c[len(c)-1])
	}
}

// TestWiderCrossesTheNetwork: the error that asks for a wider type is read from the reply about the session, whatever the names contain.
func TestWiderCrossesTheNetwork(t *testing.T) {
	for _, w := range []Wider{
		{"trips", "km", types.BigInt, types.Double, "1.5"},
		{`a"b`, "total \\ amount, of table", types.Date, types.Timestamp, "2024-01-01 10:00\n\x00"},
		{"*/trips.csv", "é\xff", types.BigInt, types.Double, strings.Repeat("9", 100)},
	} {
		failed := protocol.RefuseFor(protocol.ErrFailed, fmt.Errorf("stage parser: %w; more", &w))
		reply, err := protocol.DecodeReply(failed.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		got := WiderOf(fmt.Errorf("session 1: %w", reply.Failure()))
		if len(w.Value) > mostQuoted {
			w.Value = w.Value[:mostQuoted]
		}
		if got == nil || *got != w {
			t.Errorf("%+v; want %+v", got, w)
		}
	}
	for _, err := range []error{errors.New((&Wider{"t", "a", types.BigInt, types.Double, "1"}).Error()),
		&Wider{Table: "t", Column: "a", Was: types.Date, Is: types.Double},
		&Wider{"t", strings.Repeat("a", protocol.MaxFieldBytes), types.BigInt, types.Double, "1"},
		&Wider{strings.Repeat("t", protocol.MaxFieldBytes), "a", types.BigInt, types.Double, "1"}} {
		if w := WiderOf(err); w != nil {
			t.Errorf("%q is %+v", err, w)
		}
	}
	var tab Table
	if err := tab.File("t", []byte("a,b")); err != nil {
		t.Fatal(err)
	}
	tab.Rows([]byte("a,b"), []byte("1,2020-01-01\n"))
	tab.Widen("A", types.Double)
	tab.Widen("none", types.Double)
	if got := show(tab.Columns()); got != "a DOUBLE, b DATE" {
		t.Error(got)
	}
}

// TestKeysKnowCasesApart: in all files of a table, and beside columns of CSV, which do not.
func TestKeysKnowCasesApart(t *testing.T) {
	for want, files := range map[string][][]string{
		"id=id BIGINT, ID_1=ID BIGINT, Id_2=Id BIGINT":                   {{"id", "ID", "Id"}},
		"id=id BIGINT?, ID_1=ID BIGINT?":                                 {{"id"}, {"ID"}},
		"ID=ID BIGINT, id_1=id BIGINT?":                                  {{"ID"}, {"id", "ID"}},
		"id=id BIGINT, ID_2=ID BIGINT, ID_1=ID_1 BIGINT":                 {{"id", "ID", "ID_1"}},
		"a=a BIGINT, column1= BIGINT":                                    {{"a", ""}},
		"column1=column1 BIGINT, column_1= BIGINT":                       {{"column1", ""}},
		"Id=id BIGINT, ID_1=ID BIGINT?":                                  {{"csv", "Id"}, {"id", "ID"}},
		"id=id BIGINT, ID_1=ID BIGINT?, other= BIGINT? unkeyed":          {{"id", "ID"}, {"csv", "Id", "other"}},
		"a b=a b BIGINT, \"=\" BIGINT, a.b=a.b BIGINT, A B_1=A B BIGINT": {{"a b", `"`, "a.b", "A B"}},
	} {
		var tab Table
		for i, keys := range files {
			form := keys[0] == "csv"
			if form {
				keys = keys[1:]
			}
			fields, values := make([][]byte, len(keys)), make([][]byte, len(keys))
			for k := range keys {
				fields[k], values[k] = []byte(keys[k]), []byte(strconv.Itoa(k))
			}
			header, row := csv.AppendRecord(nil, csv.Alone(fields), ','), append(csv.AppendRecord(nil, csv.Alone(values), ','), '\n')
			if form {
				if err := tab.File("t.csv", csv.AppendRecord(nil, fields, ',')); err != nil {
					t.Fatal(err)
				}
				tab.RowsAt(Place{"t.csv", 2, 0}, csv.AppendRecord(nil, fields, ','), append(csv.AppendRecord(nil, values, ','), '\n'))
				continue
			}
			tab.Keys(keys)
			tab.ObjectsAt(Place{fmt.Sprint(i, ".jsonl"), 1, 0}, keys, header, row)
		}
		var got []string
		for _, c := range tab.Columns() {
			text := c.Name + "=" + c.Key + " " + c.Type.String()
			if c.Missing {
				text += "?"
			}
			if !c.Keyed {
				text += " unkeyed"
			}
			got = append(got, text)
		}
		if all := strings.Join(got, ", "); all != want {
			t.Errorf("%q: %s, want %s", files, all, want)
		}
	}
}

// TestLargeIntegersStayExact: a column of integers, in JSON Lines or CSV, is TEXT if one has more than 64 bits. One with fractions is
// DOUBLE, and Rounded says so.
func TestLargeIntegersStayExact(t *testing.T) {
	const large = "9223372036854775808"
	for rows, want := range map[string]string{
		"1 9223372036854775807 -9223372036854775808": "n BIGINT", "1 " + large: "n TEXT", large + " 1": "n TEXT",
		"-9223372036854775809": "n TEXT", "+" + large: "n TEXT", large + " 1.5": "n DOUBLE", "1e3 " + large: "n DOUBLE",
		large + " x": "n TEXT", strings.Repeat("9", 500): "n TEXT", "1e400": "n TEXT", "1 2.5": "n DOUBLE",
	} {
		sample := []byte(strings.ReplaceAll(rows, " ", ",\n") + ",\n")
		for _, form := range []string{"csv", "jsonl"} {
			var tab Table
			if form == "csv" {
				tab.Names([]string{"n"})
				tab.RowsAt(Place{"t.csv", 1, 0}, []byte("n,_n"), sample)
			} else {
				tab.Keys([]string{"n"})
				tab.ObjectsAt(Place{"t.jsonl", 1, 0}, []string{"n"}, []byte("n,_n"), sample)
			}
			if got := show(tab.Columns()); got != want {
				t.Errorf("%s: %.60q: %s, want %s", form, rows, got, want)
			}
			if why, others, ok := tab.Because("n"); rows == "1 "+large && (why != Value{large, Place{"t." + form, 2, 0}} ||
				others != types.Double || !ok) {
				t.Errorf("%s: %q: because of %v, %v, %v", form, rows, why, others, ok)
			}
			if v, ok := tab.Rounded("n"); ok != (want == "n DOUBLE" && strings.Contains(rows, large)) || ok && v.Text != large {
				t.Errorf("%s: %q: Rounded says %v, %v", form, rows, v, ok)
			}
		}
	}
	if Large([]byte("123")) || Large(nil) || Large([]byte("9223372036854775807")) || Large([]byte("9223372036854775808.0")) ||
		!Large([]byte("-9223372036854775809")) {
		t.Error("Large is wrong")
	}
}
