//go:build postgres

package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/internal/gen"
	"posta.dev/posta/test/postgrestest"
	"posta.dev/posta/topology"
)

// TestPostgres_TheExamplesOfDataRun runs the page's example of --to against a server, which then has the tables that the page names.
func TestPostgres_TheExamplesOfDataRun(t *testing.T) {
	page, err := os.ReadFile("data.md")
	if err != nil {
		t.Fatal(err)
	}
	server := postgrestest.Start(t)
	t.Setenv("PGPASSWORD", postgrestest.Password)
	dir := t.TempDir()
	if err := gen.Bikes(gen.OnDisk(filepath.Join(dir, "data", "bikes")), 2_000, 1); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "topology.toml"), []byte(topology.DefaultText()), 0o644); err != nil {
		t.Fatal(err)
	}
	as := strings.NewReplacer(
		"postgres://me@db.example/stats/trips", "'"+server.URL("trips")+"'",
		"'postgres://me@db.example/stats?", "'"+strings.Replace(server.URL(""), "/postgres/?", "/postgres?", 1)+"&")
	var commands []string
	for line := range strings.Lines(string(page)) {
		if command, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "    "); indented &&
			(strings.Contains(command, "--to ") || strings.Contains(command, "--detach")) {
			commands = append(commands, as.Replace(command))
		}
	}
	if len(commands) != 3 || strings.Contains(strings.Join(commands, "\n"), "db.example") {
		t.Fatalf("the examples are %q", commands)
	}
	said := perform(t, "set -e\n"+buildPosta+`cd '`+dir+`'
trap 'posta down > /dev/null 2>&1' EXIT
posta up > up.txt 2>&1 || { cat up.txt; exit 1; }
{ `+strings.Join(commands, "\n")+`
} > out.txt 2> errors.txt || { cat errors.txt; exit 1; }
cat errors.txt
`)
	if !strings.Contains(said, ": trips_rain, trips_doubled, trips_far") || strings.Count(said, " written to postgres://") != 2 {
		t.Errorf("they say\n%s", said)
	}
}
