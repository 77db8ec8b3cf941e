package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
)

// TestRunWritesAReport: a report has the answers, the rejected rows, the times and the cluster of its run.
func TestRunWritesAReport(t *testing.T) {
	dir, _ := badRows(t, 30)
	file := filepath.Join(t.TempDir(), "report.html")
	r := must(t, "run", "bikes", "--data", dir, "--quiet", "--html", file)
	html := content(t, file)
	for _, want := range []string{
		"<h1>bikes</h1>", "<dd>test</dd>", "posta run bikes --data " + dir + " --quiet --html " + file, "rain: ", "doubled: ", "far: ",
		"trips: ", " rejected</h3>",
		"toronto/trips.csv", "--rejects FILE", `<th scope="row">trips</th>`, `<th scope="row">stations</th>`, `<th scope="row">input</th>`,
		`src="data:image/svg`, "input-1",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if !strings.Contains(r.err, "report written to "+file) || !strings.Contains(r.out, "rain: ") {
		t.Errorf("the command prints %q, and %q on standard error", r.out, r.err)
	}
}

// TestSQLWritesAReport: statements have reports, too. A statement that reads no table has one without a cluster.
func TestSQLWritesAReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.html")
	must(t, "sql", "--html", file, "SELECT 17 AS n, '<b>' AS markup -- https://me:s3cret@host")
	html := content(t, file)
	if !strings.Contains(html, ">17</td>") || !strings.Contains(html, ">&lt;b&gt;</td>") || strings.Contains(html, "s3cret") {
		t.Errorf("the report is %s", html)
	}
}

// TestAFailedRunLeavesNoReport: a run that fails leaves the former report as it was. A place that cannot be written is an error before the
// session begins.
func TestAFailedRunLeavesNoReport(t *testing.T) {
	dir, _ := badRows(t, 1)
	file := filepath.Join(t.TempDir(), "report.html")
	args := []string{"run", "bikes", "--data", dir, "--quiet", "--strict", "--html", file}
	if r := posta(t, args...); r.code != exit.Usage {
		t.Fatalf("exit code %d, %s", r.code, r.err)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 0 {
		t.Errorf("%v are left, %v", left, err)
	}
	if err := os.WriteFile(file, []byte("former"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := posta(t, args...); r.code != exit.Usage || content(t, file) != "former" {
		t.Errorf("exit code %d, and the file has %.100q", r.code, content(t, file))
	}
	for place, says := range map[string]string{
		filepath.Dir(file):       "--html: " + filepath.Dir(file) + " is a directory; give the name of a file",
		file + "/report.html":    "--html: look at the file to write: ",
		"/nowhere/x/report.html": "--html: create a file in /nowhere/x: no such file or directory; give another place for the report",
	} {
		r := posta(t, "run", "bikes", "--data", dir, "--html", place)
		if r.code != exit.Usage || !strings.Contains(r.err, says) || strings.Contains(r.err, "session") {
			t.Errorf("%s: exit code %d, %s", place, r.code, r.err)
		}
	}
}

// Statements of a file on a running cluster, and answers that are fetched later, have the cluster in their report.
func TestReportsOfARunningCluster(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	dir := data(t, "200")
	questions, file := filepath.Join(k.dir, "q.sql"), filepath.Join(k.dir, "report.html")
	if err := os.WriteFile(questions, []byte("SELECT count(*) AS trips FROM '*/trips.csv'"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(k.must("submit", "bikes", "--data", dir, "--detach").out)
	for _, args := range [][]string{{"submit", questions, "--data", dir, "--html", file}, {"results", id, "--html", file}} {
		k.must(args[0], args[1:]...)
		html := content(t, file)
		for _, want := range []string{`<h2 id="h-cluster">Cluster posta</h2>`, `<th scope="row">input</th>`, `src="data:image/svg`} {
			if !strings.Contains(html, want) {
				t.Errorf("%s: the report lacks %q", args[0], want)
			}
		}
	}
}
