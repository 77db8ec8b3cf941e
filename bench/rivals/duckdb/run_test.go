package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/bench/rivals/cost"
	"posta.dev/posta/internal/gen"
)

func TestRun_PrintsAnswersAndWritesCosts(t *testing.T) {
	dir, costs := t.TempDir(), filepath.Join(t.TempDir(), "costs.json")
	if err := gen.Movies(gen.OnDisk(dir), 100, 1); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(context.Background(), []string{"-analysis", "movies", "-data", dir, "-json", "-costs", costs, "-threads", "1"}, &out,
		io.Discard); err != nil {
		t.Fatal(err)
	}
	var a struct {
		Analysis string
		Queries  map[string]struct {
			Columns []string
			Rows    [][]any
		}
	}
	if err := json.Unmarshal(out.Bytes(), &a); err != nil || a.Analysis != "movies" || len(a.Queries) != 5 {
		t.Fatalf("%v: %s", err, out.String())
	}
	b, err := os.ReadFile(costs)
	if err != nil {
		t.Fatal(err)
	}
	var c cost.Cost
	if err := json.Unmarshal(b, &c); err != nil || c.Wall <= 0 || c.Threads != 1 || !strings.HasPrefix(c.Version, "v1.") {
		t.Errorf("%v: %s", err, b)
	}
	out.Reset()
	if err := run(context.Background(), []string{"-analysis", "movies", "-data", dir, "-trace"}, &out, io.Discard); err != nil ||
		!strings.Contains(out.String(), "sentiment: ") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestRun_SaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	for _, x := range []struct {
		args []string
		want string
	}{
		{nil, "-analysis"},
		{[]string{"-analysis", "bikes"}, "-data"},
		{[]string{"-analysis", "cars", "-data", dir}, "bikes, flights"},
		{[]string{"-analysis", "memes", "-data", dir}, "posts.csv"},
	} {
		if err := run(context.Background(), x.args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: %v, want something about %q", x.args, err, x.want)
		}
	}
	if _, _, err := Answer(context.Background(), "cars", dir, 1, io.Discard); !errors.Is(err, errUnknown) {
		t.Error(err)
	}
}

func TestScan_ColumnsAreFoundByName(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "it's.csv")
	if err := os.WriteFile(file, []byte("\xef\xbb\xbf\"b, b\";x;a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := scan(file, ';', columns{{"a", "DOUBLE"}, {"b, b", "DATE"}})
	if err != nil || !strings.Contains(got, `columns = {'b, b': 'DATE', 'unused 1': 'VARCHAR', 'a': 'DOUBLE'}`) ||
		!strings.Contains(got, `it''s.csv`) {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := scan(file, ';', columns{{"c", "DATE"}}); err == nil || !strings.Contains(err.Error(), `no column "c"`) {
		t.Error(err)
	}
}
