package cmd

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/protocol"
)

// examplesOf returns the commands in a section of a page.
func examplesOf(t *testing.T, page, part string) (commands []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## "+part+"\n")
	if !found {
		t.Fatalf("%s has no part %s", page, part)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	for _, m := range regexp.MustCompile("(?m)^posta (run [^#\n]*)").FindAllStringSubmatch(rest, -1) {
		commands = append(commands, m[1])
	}
	return commands
}

// TestOutDoesWhatThePageSays runs the commands of docs/data.md, and compares what they write with what --json prints.
func TestOutDoesWhatThePageSays(t *testing.T) {
	examples := examplesOf(t, "data.md", "Out") // read the page before the directory changes
	from := data(t, "2000")
	want := parse(t, must(t, "run", "bikes", "--data", from, "--json").out)
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("data", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(from, "data/bikes"); err != nil {
		t.Fatal(err)
	}
	if len(examples) < 3 {
		t.Fatalf("the page has the examples %q", examples)
	}
	for _, e := range examples {
		must(t, strings.Fields(e)...)
	}
	one := parse(t, content(t, "answers.json"))
	one.Session = want.Session // each run has an id of its own
	if !reflect.DeepEqual(one, want) {
		t.Errorf("answers.json has %.300v, want %.300v", one, want)
	}
	for name, q := range want.Queries {
		table, err := csv.NewReader(strings.NewReader(content(t, "answers/"+name+".csv"))).ReadAll()
		if err != nil || len(table) != len(q.Rows)+1 {
			t.Errorf("%s.csv has %d rows, %v; want %d", name, len(table), err, len(q.Rows)+1)
		}
		rows := strings.Split(strings.TrimSuffix(content(t, "answers/"+name+".jsonl"), "\n"), "\n")
		if len(q.Rows) == 0 && rows[0] == "" {
			continue
		}
		if len(rows) != len(q.Rows) {
			t.Fatalf("%s.jsonl has %d lines, want %d", name, len(rows), len(q.Rows))
		}
		for i, line := range rows {
			var row map[string]any
			d := json.NewDecoder(strings.NewReader(line))
			d.UseNumber()
			if err := d.Decode(&row); err != nil {
				t.Fatal(err)
			}
			for c, column := range q.Columns {
				if !reflect.DeepEqual(row[column], q.Rows[i][c]) {
					t.Errorf("%s.jsonl, row %d: %s is %v, want %v", name, i+1, column, row[column], q.Rows[i][c])
				}
			}
		}
	}
}

func content(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAnAnswerThatCannotBeDeliveredIsKept: as Parquet with its types, or as CSV where that cannot be, in a directory that the error names.
func TestAnAnswerThatCannotBeDeliveredIsKept(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := protocol.NewRows(2)
	if err := rows.Add(protocol.Value{Text: "1.50"}, protocol.Value{Kind: protocol.Null}); err != nil {
		t.Fatal(err)
	}
	for names, format := range map[[2]string]string{{"a", "b"}: "parquet", {"a", "a"}: "csv"} {
		q := client.NewTable("q", names[:], rows)
		q.Types = []types.Type{types.DecimalOf(3, 2), types.Of(types.Double)}
		why := errors.New("the server is gone")
		err := deliver.Kept((&command{Call: &call.Call{}}).Call, &client.Answer{Queries: []client.Table{q}}, why)
		_, where, named := strings.Cut(err.Error(), "the server is gone; the answer is kept as "+format+" in ")
		if !errors.Is(err, why) || !named {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(where, "q."+format))
		if err != nil || format == "csv" && string(content) != "a,a\n1.50,\n" || format == "parquet" &&
			!strings.HasPrefix(string(content), "PAR1") {
			t.Errorf("%q, %v", content, err)
		}
	}
}

// TestPlacesThatCannotTakeTheAnswerAreSaidBefore: before the statement is answered, and nothing is made there.
func TestPlacesThatCannotTakeTheAnswerAreSaidBefore(t *testing.T) {
	dir := t.TempDir()
	for _, c := range [][]string{
		{"two columns \"a\"", "--out", dir + "/x.parquet", "SELECT 1 AS a, 2 AS a"},
		{"files end in", "--out", dir + "/x.xlsx", "SELECT 1"},
		{"both print", "--out", "-", "--json", "SELECT 1"},
		{"both print", "--out", "-", "--csv", "SELECT 1"},
	} {
		r := posta(t, append([]string{"sql", "--data", dir}, c[1:]...)...)
		if found, err := os.ReadDir(dir); r.code != exit.Usage || r.out != "" || !strings.Contains(r.err, c[0]) || len(found) > 0 || err != nil {
			t.Errorf("%v: exit code %d, %q, %s, %v", c, r.code, r.out, r.err, found)
		}
	}
	if r := must(t, "sql", "--data", dir, "--out", "-", "SELECT 1 AS a"); r.out != "a\n1\n" {
		t.Errorf("standard output: %q", r.out)
	}
}
