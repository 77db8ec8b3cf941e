package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/logs"
	"posta.dev/posta/wal"
)

// digest returns the content of a directory.
func digest(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		fmt.Fprintln(h, strings.TrimPrefix(name, dir), len(b))
		h.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestGenDependsOnRowsAndSeedAlone(t *testing.T) {
	make := func(flags ...string) string {
		dir := t.TempDir()
		must(t, append([]string{"gen", "bikes", "--out", dir}, flags...)...)
		return digest(t, dir)
	}
	first := make("--rows", "500", "--seed", "7")
	if again := make("--seed", "7", "--rows", "500"); again != first {
		t.Error("the same flags make other data")
	}
	if make("--rows", "500", "--seed", "8") == first || make("--rows", "501", "--seed", "7") == first {
		t.Error("other flags make the same data")
	}
}

func TestGenPrintsWhatItMade(t *testing.T) {
	dir := t.TempDir()
	var made struct {
		Dir                string
		Rows, Files, Bytes int64
	}
	r := must(t, "gen", "bikes", "--rows", "100", "--out", dir, "--json")
	if err := json.Unmarshal([]byte(r.out), &made); err != nil || made.Dir != dir || made.Rows != 100 || made.Files != 9 {
		t.Fatalf("%v: %s", err, r.out)
	}
	var size int64
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*.csv"))
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size != made.Bytes {
		t.Errorf("it tells %d bytes, and there are %d", made.Bytes, size)
	}
}

func TestGenStopsAtCtrlC(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(context.Background())
	interrupt(exit.ErrInterrupted)
	if r := postaUntil(ctx, ctx, "gen", "bikes", "--rows", "1000000000", "--out", t.TempDir()); r.code != exit.Interrupted {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}

func TestAnalysesAreListed(t *testing.T) {
	r := must(t, "analyses")
	for _, text := range []string{"bikes: ", "rain_mm", "DIR/*/trips.csv", "average_duration_sec"} {
		if !strings.Contains(r.out, text) {
			t.Errorf("%q is missing in\n%s", text, r.out)
		}
	}
	var all struct {
		Analyses []struct {
			Name    string
			Streams []struct{ Name, Files string }
		}
	}
	if err := json.Unmarshal([]byte(must(t, "analyses", "--json").out), &all); err != nil || len(all.Analyses) != 1 ||
		len(all.Analyses[0].Streams) != 3 {
		t.Errorf("%v: %+v", err, all)
	}
}

func TestTopologyCommands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.toml")
	writeTopology(t, file, "--replicas", "joiner=3", "--split-parsers")
	if r := must(t, "topology", "check", file); r.out != file+": ok, 10 nodes on 1 host\n" {
		t.Errorf("check prints %q", r.out)
	}
	if r := must(t, "topology", "show", file); !strings.Contains(r.out, "joiner-3") {
		t.Errorf("show prints %s", r.out)
	}
	var view struct{ Nodes []struct{ ID string } }
	if err := json.Unmarshal([]byte(must(t, "topology", "show", "-f", file, "--json").out), &view); err != nil || len(view.Nodes) != 10 {
		t.Errorf("%v: %+v", err, view)
	}
	svg := filepath.Join(t.TempDir(), "t.svg")
	must(t, "topology", "graph", file, "--out", svg)
	b, err := os.ReadFile(svg)
	if err != nil || !strings.Contains(string(b), "joiner-3") || must(t, "topology", "graph", file).out != string(b) {
		t.Errorf("the picture: %v, %.100s", err, b)
	}
}

func TestTheComposeFileNamesItsTopology(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "in", "t.toml")
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	r := must(t, "topology", "new")
	if err := os.WriteFile(file, []byte(r.out), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	must(t, "topology", "compose", "in/t.toml", "--image", "mine", "--out", "in/c.yaml")
	b, err := os.ReadFile("in/c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`source: "./t.toml"`, "posta topology compose --topology in/t.toml --image mine --out in/c.yaml\n",
		`image: "mine"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is missing in\n%s", want, b)
		}
	}
	if r := must(t, "topology", "compose", "-f", file); !strings.Contains(r.out, fmt.Sprintf("source: %q", file)) {
		t.Errorf("a topology that is named by its full path is not: %s", r.out)
	}
	if r := must(t, "topology", "compose", "-f", "in/t.toml"); !strings.Contains(r.out, `source: "./in/t.toml"`) {
		t.Errorf("seen from here it is %s", r.out)
	}
}

// records makes a log with so many records.
func records(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "joiner-1")
	l, err := wal.Open(dir, wal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := l.Append(wal.Record{Type: 3, Parts: [][]byte{fmt.Appendf(nil, "record %d, %s", i, strings.Repeat("x", 50))}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestW7_LogsAreVerifiedDumpedAndRepaired(t *testing.T) {
	dir := records(t, 10)
	if r := must(t, "log", "verify", dir); !strings.Contains(r.out, "records 1 to 10\n") ||
		!strings.Contains(r.out, "second reader: the same 10 frames") || !strings.HasSuffix(r.out, "ok\n") {
		t.Errorf("verify prints %s", r.out)
	}
	if r := must(t, "log", "dump", dir); strings.Count(r.out, "\n") != 10 || !strings.Contains(r.out, "type 3") {
		t.Errorf("dump prints %s", r.out)
	}
	lines := strings.Split(strings.TrimSpace(must(t, "log", "dump", dir, "--json", "--bytes", "-1").out), "\n")
	var last logs.RecordJSON
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Index != 10 || last.Size != len(last.Data)/2 {
		t.Errorf("%v: %+v", err, last)
	}
	damage(t, dir, last.File, last.Offset/2)

	r := posta(t, "log", "verify", dir, "--json")
	var report logs.ReportJSON
	if err := json.Unmarshal([]byte(r.out), &report); err != nil || report.OK || report.Damage == "" || r.code != exit.Failed {
		t.Errorf("a damaged log: %v, exit code %d, %s", err, r.code, r.out)
	}
	if strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, "posta log repair "+dir) {
		t.Errorf("verify says %q", r.err)
	}
	if r := posta(t, "log", "dump", dir); r.code != exit.Failed || strings.Count(r.out, "\n") < 2 || strings.Count(r.err, "\n") != 1 {
		t.Errorf("a dump of a damaged log: exit code %d, %s%s", r.code, r.out, r.err)
	}
	if r := must(t, "log", "repair", dir); !strings.Contains(r.out, "lost: ") {
		t.Errorf("repair prints %s", r.out)
	}
	must(t, "log", "verify", dir)
	if r := must(t, "log", "repair", dir); strings.Contains(r.out, "lost: ") {
		t.Errorf("a second repair prints %s", r.out)
	}
}

func damage(t *testing.T, dir, file string, at int64) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	if _, err = f.ReadAt(b, at); err == nil {
		b[0] ^= 0xff
		_, err = f.WriteAt(b, at)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
