package cmd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/test/await"
)

// asParquet converts a CSV file to Parquet with text columns. A line that is not CSV becomes a row of nulls.
func asParquet(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	cut := csv.NewCutter(f, ',', 1<<20, 1<<24)
	line, err := cut.Header()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Split(string(line), ",")
	columns := make([]csv.Column, len(names))
	for i, name := range names {
		columns[i].Name = name
	}
	header, err := csv.ParseHeader(line, ',')
	if err != nil {
		t.Fatal(err)
	}
	m, err := header.Find(columns)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(strings.TrimSuffix(file, ".csv") + ".parquet")
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewWriter(out, names, slices.Repeat([]types.Type{types.Of(types.Text)}, len(names)))
	for {
		chunk, at, err := cut.Next(nil)
		if err != nil {
			break // io.EOF
		}
		var s csv.Scanner
		for s.Reset(chunk, ',', m, at); s.Next(); {
			row := make([]protocol.Value, len(names))
			for i := range row {
				row[i].Kind = protocol.Null
				if s.Err() == nil {
					row[i] = protocol.Value{Text: string(s.Fields()[i])}
				}
			}
			if err := w.Row(row); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// sameNumbers compares answers, and how many rows were rejected. It ignores the lines of rejected rows, because a file that is not CSV
// counts lines differently.
func sameNumbers(t *testing.T, got, want answers) {
	t.Helper()
	for _, a := range []answers{got, want} {
		for stream, r := range a.Rejected {
			a.Rejected[stream] = r.(map[string]any)["rows"]
		}
	}
	same(t, got, want)
}

// TestD1_KillsWhileParquetIsReadChangeNothing: one node of each stage is killed while all files are Parquet.
func TestD1_KillsWhileParquetIsReadChangeNothing(t *testing.T) {
	if alike(t, "TestD1_NodesThatAreKilledChangeNothing") {
		return
	}
	from := data(t, "20000")
	want := expected(t, from)
	files, err := filepath.Glob(filepath.Join(from, "*", "*.csv"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		asParquet(t, f)
	}
	dir, done := started(t, context.Background(), "--data", from, "--json")
	for _, node := range []string{"input-1", "aggregator-1", "reducer-1"} {
		pid := pidOf(dir, node)
		if err := syscall.Kill(pid, syscall.SIGKILL); pid == 0 || err != nil {
			t.Fatal(node, pid, err)
		}
		await.Until(t, node+" comes back", func() bool { now := pidOf(dir, node); return now != 0 && now != pid })
	}
	r := <-done
	if r.code != exit.OK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	sameNumbers(t, parse(t, r.out), want)
}

// TestC1_FilesOfBzip2AreRead: no Go package writes bzip2, so the test calls the command bzip2.
func TestC1_FilesOfBzip2AreRead(t *testing.T) {
	from := data(t, "20000")
	want := expected(t, from)
	files, err := filepath.Glob(filepath.Join(from, "*", "*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("bzip2", files...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := must(t, "run", "bikes", "--data", from, "--json")
	same(t, parse(t, r.out), want)
}
