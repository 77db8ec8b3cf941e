package cmd

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/exit"
)

// What differs between two runs: the progress that was shown, which is as many lines as the run took time; how long it took, and names of
// sessions.
var (
	progress = regexp.MustCompile(`(?m)^([a-z0-9_]+: sent .*|computing.*|connecting)\n`)
	took     = regexp.MustCompile(`\b[0-9.]+ ?(ms|s)\b|[0-9a-f]{8}-[0-9a-f-]{27}`)
)

// TestInProcess_SaysWhatProcessesSay: a command that answers within its process prints what it prints with processes, ends with the same
// exit code, and starts nothing.
func TestInProcess_SaysWhatProcessesSay(t *testing.T) {
	dir := data(t, "2000")
	if err := os.WriteFile(filepath.Join(dir, "bad.csv"), []byte("a,b\n1,2\n3\nx,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", "bikes", "--data", dir},
		{"run", "bikes", "--data", dir, "--json"},
		{"run", "bikes", "--data", dir, "--file", "trips=" + filepath.Join(dir, "none.csv")},
		{"sql", "--data", dir, "SELECT count(*), sum(a) FROM bad"},
		{"sql", "--data", dir, "--json", "SELECT count(*), sum(a) FROM bad"},
		{"sql", "--data", dir, "--csv", "SELECT start_station_code, count(*) FROM '*/trips.csv' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5"},
		{"sql", "--data", dir, "--max-rejects", "0", "SELECT sum(a + b) FROM bad"},
		{"sql", "--data", dir, "SELECT CAST(count(*) AS TEXT) FROM bad; SELECT 1; SELECT sum(b) FROM bad WHERE a > (SELECT avg(b) FROM bad)"},
		{"sql", "--data", dir, "SELECT none FROM bad"},
		{"sql", "--data", dir, "SELECT sum(CAST(replace(b, '2', 'x') AS BIGINT)) FROM bad"},
	} {
		within, with := posta(t, append(args, "--in-process", "64MiB")...), posta(t, append(args, "--in-process", "0")...)
		plain := func(text string) string { return took.ReplaceAllString(progress.ReplaceAllString(text, ""), "*") }
		if within.code != with.code || plain(within.out) != plain(with.out) || plain(within.err) != plain(with.err) {
			t.Errorf("%s\nwithin: %d\n%s\n%s\nwith processes: %d\n%s\n%s", strings.Join(args, " "), within.code, within.out, within.err, with.code,
				with.out, with.err)
		}
	}
}

// TestInProcess_TellsEvents: programs hear the same kinds of events.
func TestInProcess_TellsEvents(t *testing.T) {
	dir := data(t, "2000")
	kinds := func(size string) string {
		r := must(t, "sql", "--data", dir, "--events", "--in-process", size, "SELECT count(*) FROM '*/trips.csv'")
		kind := regexp.MustCompile(`(?s)type.([a-z]{4,})`) // of MessagePack
		var all []string
		for _, m := range kind.FindAllStringSubmatch(r.out+r.err, -1) {
			if m[1] != "progress" { // which depends on the time
				all = append(all, m[1])
			}
		}
		return strings.Join(all, " ")
	}
	if within, with := kinds("64MiB"), kinds("0"); within != with || within == "" {
		t.Errorf("within %q, with processes %q", within, with)
	}
}

// TestInProcess_LeavesNothing: no directory is made for a small question, and flags that need processes start them.
func TestInProcess_LeavesNothing(t *testing.T) {
	dir, temporary := data(t, "2000"), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	if err := os.Chmod(temporary, 0o500); err != nil {
		t.Fatal(err)
	}
	must(t, "sql", "--data", dir, "--in-process", "64MiB", "SELECT count(*) FROM '*/trips.csv'")
	if err := os.Chmod(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"--keep"}, {"--replicas", "output=2"}, {"--set", "limits.window=1MiB"}} {
		args := append([]string{"sql", "--data", dir, "--in-process", "64MiB", "SELECT count(*) FROM '*/trips.csv'"}, flags...)
		if r := posta(t, args...); r.code != exit.Usage || !strings.Contains(r.err, flags[0]) {
			t.Errorf("%v: %d %s", flags, r.code, r.err)
		}
	}
	for _, size := range []string{"-1", "much", "64"} {
		if r := posta(t, "sql", "--data", dir, "--in-process", size, "SELECT 1 FROM '*/trips.csv'"); r.code != exit.Usage {
			t.Errorf("%s: %d %s", size, r.code, r.err)
		}
	}
}

// TestInProcess_EndsWhenItIsTold: Ctrl-C and --timeout end a question within this process as they end one on processes.
func TestInProcess_EndsWhenItIsTold(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte("a,b\n"+strings.Repeat("1,some text\n", 2_000_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	statement := "SELECT count(*) FROM t x JOIN t y ON x.a = y.a WHERE x.b < y.b"
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(exit.ErrInterrupted) })
	r := postaUntil(ctx, context.Background(), "sql", "--data", dir, "--in-process", "1GiB", statement)
	if r.code != exit.Interrupted {
		t.Errorf("Ctrl-C: %d %s", r.code, r.err)
	}
	r = posta(t, "sql", "--data", dir, "--in-process", "1GiB", "--timeout", "60ms", statement)
	if r.code != exit.Code(exit.ErrTimeout) {
		t.Errorf("--timeout: %d %s", r.code, r.err)
	}
}
