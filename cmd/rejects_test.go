package cmd

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
)

// badRows makes bikes data with n unusable rows in one file, and returns how many unusable rows there are in all files.
func badRows(t *testing.T, n int) (dir string, all int) {
	t.Helper()
	dir = bikesWith(t, map[string]func([]byte) []byte{"toronto/trips.csv": func(b []byte) []byte {
		for i := range n {
			b = fmt.Appendf(b, "\"rubbish\",\"of\nthe %dth\" kind\r\n", i)
		}
		return b
	}})
	for _, stream := range expected(t, dir).Rejected {
		var rows int
		if _, err := fmt.Sscan(fmt.Sprint(stream.(map[string]any)["rows"]), &rows); err != nil {
			t.Fatal(err)
		}
		all += rows
	}
	return dir, all
}

// linesOf returns how many rows a list of rejects stands for: a row whose form is wrong counts as many rows as it has lines.
func linesOf(rejects [][]string) (n int) {
	for _, row := range rejects {
		if n++; strings.HasPrefix(row[3], "there is text after") || strings.HasPrefix(row[3], "row has") {
			n += strings.Count(row[4], "\n")
		}
	}
	return n
}

// TestC1_RejectsListsAllRejectedRows: the file lists all rejected rows, also those that the answer only counts. Their number and the first
// of them are the oracle's.
func TestC1_RejectsListsAllRejectedRows(t *testing.T) {
	dir, all := badRows(t, 50)
	file := filepath.Join(t.TempDir(), "rejects.csv")
	r := must(t, "run", "bikes", "--data", dir, "--json", "-q", "--rejects", file, "--chunk", "1KiB", "--max-rejected", fmt.Sprint(all))
	same(t, parse(t, r.out), expected(t, dir))
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || linesOf(rows[1:]) != all || !slices.Equal(rows[0], []string{"stream", "file", "line", "reason", "row"}) {
		t.Fatalf("%v, %d lines, want %d, under %v", err, linesOf(rows[1:]), all, rows[0])
	}
	var listed []string
	for _, row := range rows[1:] {
		listed = append(listed, strings.Join(row[:4], "|"))
		if row[0] == "trips" && row[1] == "toronto/trips.csv" && strings.Contains(row[4], "rubbish") && !strings.HasSuffix(row[4], "th\" kind") {
			t.Errorf("row %q", row[4])
		}
	}
	for stream, rejected := range expected(t, dir).Rejected {
		for _, first := range rejected.(map[string]any)["first"].([]any) {
			f := first.(map[string]any)
			if want := fmt.Sprintf("%s|%v|%v|%v", stream, f["file"], f["line"], f["reason"]); !slices.Contains(listed, want) {
				t.Errorf("%s is missing", want)
			}
		}
	}
}

func TestC1_StrictNamesTheRow(t *testing.T) {
	for _, flags := range []string{"--strict", "--max-rejected 0", "--max-rejected 60"} {
		dir, all := badRows(t, 50)
		if flags == "--max-rejected 60" {
			flags = fmt.Sprintf("--max-rejected %d", all-1)
		}
		r := posta(t, append([]string{"run", "bikes", "--data", dir, "-q"}, strings.Fields(flags)...)...)
		if r.code != exit.Usage || r.out != "" || !strings.Contains(r.err, "too many rejected rows, ") ||
			!strings.Contains(r.err, ".csv, line ") {
			t.Errorf("%s: exit code %d, %q, %s", flags, r.code, r.out, r.err)
		}
	}
}

func TestRejectFlagsThatCannotBeMeant(t *testing.T) {
	dir := data(t, "10")
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"--strict --max-rejected 3", "--max-rejected x", "--max-rejected -1", "--rejects " + dir,
		"--rejects " + dir + "/none/x", "--rejects " + pipe,
		"--rejects " + dir + "/montreal/trips.csv", "--rejects " + dir + "/x/../new/trips.csv"} {
		r := posta(t, append([]string{"run", "bikes", "--data", dir, "-q"}, strings.Fields(flags)...)...)
		if r.code != exit.Usage || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: exit code %d, %s", flags, r.code, r.err)
		}
	}
}

func TestC1_RejectsNeverReplaceData(t *testing.T) {
	dir := data(t, "10")
	before := digest(t, dir)
	posta(t, "run", "bikes", "--data", dir, "-q", "--rejects", filepath.Join(dir, "montreal", "weather.csv"))
	if digest(t, dir) != before {
		t.Error("the data has changed")
	}
}

// TestC1_StrictOnACluster: on a running cluster, and with --detach, the command checks exactly the rows that it sends.
func TestC1_StrictOnACluster(t *testing.T) {
	k := newTestCluster(t)
	must(t, "up", "-f", k.file)
	defer must(t, "down", "-f", k.file)
	dir, all := badRows(t, 20)
	file := filepath.Join(t.TempDir(), "rejects.csv")
	for _, detach := range []bool{false, true} {
		flags := []string{"submit", "bikes", "--data", dir, "-f", k.file, "-q"}
		if detach {
			flags = append(flags, "--detach")
		}
		if r := posta(t, append(flags, "--strict")...); r.code != exit.Usage || !strings.Contains(r.err, ".csv, line ") {
			t.Errorf("detach %v: exit code %d, %s", detach, r.code, r.err)
		}
		must(t, append(flags, "--rejects", file)...)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(string(b))).ReadAll()
		if err != nil || linesOf(rows[1:]) != all {
			t.Errorf("detach %v: %v, %d lines, want %d", detach, err, linesOf(rows[1:]), all)
		}
	}
}
