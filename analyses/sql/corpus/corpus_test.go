// Package corpus_test answers the statements of analyses/sql/testdata/corpus.
package corpus_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/test/corpus"
)

const root = "../testdata/corpus"

// layouts are the ways in which each statement is answered. None of them may change an answer (D1). Tables are of unknown size,
// so that they are partitioned
// with their partners, or small, so that every joiner has them whole.
var layouts = []struct {
	name  string
	small bool
	local.Options
}{
	{"one node of each kind", true, local.Options{}},
	{"several nodes that crash", false, local.Options{Joiners: 3, Aggregators: 2, Seed: 5, ChunkBytes: 300}},
}

// TestQ5_CorpusKeepsItsAnswers answers every statement of the corpus.
func TestQ5_CorpusKeepsItsAnswers(t *testing.T) {
	files, err := fs.Glob(os.DirFS(root), "*.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, file := range files {
		text, err := os.ReadFile(path.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		records, err := corpus.Parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		count += len(records)
		t.Run(strings.TrimSuffix(file, ".txt"), func(t *testing.T) {
			for _, r := range records {
				for _, l := range layouts {
					p := &split.Plan{Text: r.Text, Tables: tablesOf(t, r.Tables, l.small)}
					rows, fields, err := corpus.Answer(p, os.DirFS(path.Join(root, r.Tables)), l.Options)
					if r.Refused {
						if refusal(err) != strings.Join(r.Rows, "\n") {
							t.Errorf("%s:%d, %s: %s\ngot  %v\nwant the message %s", file, r.Line, l.name, r.Text, err, r.Rows)
						}
						break // no node takes part
					}
					got, want := corpus.Rows(rows, fields), r.Rows
					if err != nil || corpus.Types(fields) != r.Types || !slices.Equal(got, want) {
						t.Errorf("%s:%d, %s: %s\ngot  %s, error %v\n%s\nwant %s\n%s", file, r.Line, l.name, r.Text,
							corpus.Types(fields), err, strings.Join(got, "\n"), r.Types, strings.Join(want, "\n"))
					}
				}
			}
		})
	}
	if count < 200 {
		t.Errorf("the corpus has only %d statements", count)
	}
}

// refusal returns the first line of the message that refuses a statement, "" if none does.
func refusal(err error) string {
	refused := (*syntax.Error)(nil)
	if !errors.As(err, &refused) {
		return ""
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

func tablesOf(t *testing.T, folder string, small bool) []catalog.Table {
	t.Helper()
	if folder == "-" {
		return nil
	}
	text, err := os.ReadFile(path.Join(root, folder, "tables.sql"))
	if err != nil {
		t.Fatal(err)
	}
	tables, err := corpus.Declared(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for i := range tables {
		if small {
			data, err := os.ReadFile(path.Join(root, folder, tables[i].Files))
			if err != nil {
				t.Fatal(err)
			}
			tables[i].Bytes, tables[i].Rows = int64(len(data)), int64(max(1, strings.Count(string(data), "\n")-1))
		}
	}
	return tables
}

// TestParseNamesTheLine: a file that is no corpus is refused, with the line.
func TestParseNamesTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"tables -\nselect 1":     `line 2: "select" is not a word of a corpus: tables, differs, query or error`,
		"query BIGINT\nSELECT 1": "line 1: the statement does not end: write a line ---- behind it",
	} {
		if _, err := corpus.Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	r := corpus.Record{Tables: "-", Line: 1, Differs: "it is meant", Text: "SELECT 1", Types: "BIGINT", Rows: []string{"1"}}
	again, err := corpus.Parse(string(r.Append(nil)))
	if err != nil || len(again) != 1 || string(again[0].Append(nil)) != string(r.Append(nil)) {
		t.Errorf("%+v, %v", again, err)
	}
}
