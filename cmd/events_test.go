package cmd

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/await"
)

// eventsOf calls the command and returns its events.
func eventsOf(t *testing.T, args ...string) (told []map[string]any, r result) {
	t.Helper()
	r = posta(t, append(args, "--events")...)
	d := msgpack.NewDecoder(bytes.NewReader([]byte(r.out)))
	for {
		m, err := d.DecodeMap()
		if err != nil {
			return told, r
		}
		told = append(told, m)
	}
}

// kinds returns the types of events. Events of one type in a row appear once.
func kinds(told []map[string]any) string {
	var all []string
	for _, m := range told {
		if k := m["type"].(string); len(all) == 0 || all[len(all)-1] != k {
			all = append(all, k)
		}
	}
	return strings.Join(all, " ")
}

// TestEventsAreExact: infinity and NaN, which JSON cannot express, differ from NULL, and types are those of SQL.
func TestEventsAreExact(t *testing.T) {
	told, r := eventsOf(t, "sql", "SELECT 1.0 / 0 AS i, 0.0 / 0 AS n, CAST(NULL AS DOUBLE) AS nothing, 1.25 AS d, DATE '2024-02-29' AS day")
	if got := kinds(told); r.code != exit.OK || got != "answer query results done" {
		t.Fatalf("exit code %d: %s\n%s", r.code, got, r.err)
	}
	if types := told[1]["types"]; !equalTexts(types, "DOUBLE", "DOUBLE", "DOUBLE", "DECIMAL(3, 2)", "DATE") {
		t.Errorf("types are %v", types)
	}
	part := told[2]["parts"].([]any)[0].(map[string]any)
	row := part["rows"].([]any)[0].([]any)
	if !math.IsInf(row[0].(float64), 1) || !math.IsNaN(row[1].(float64)) || row[2] != nil || row[3] != "1.25" || row[4] != "2024-02-29" ||
		part["last"] != true {
		t.Errorf("the row is %v of %v", row, part)
	}
}

func equalTexts(got any, want ...string) bool {
	all, ok := got.([]any)
	if !ok || len(all) != len(want) {
		return false
	}
	for i := range want {
		if all[i] != want[i] {
			return false
		}
	}
	return true
}

func TestEventsTellErrorsWithTheirCodes(t *testing.T) {
	dir := table(t, "trips.csv", "id,city\n1,Montreal\n")
	for _, c := range []struct {
		code, says string
		args       []string
	}{
		{"statement", "there is no column cty\n    SELECT cty", []string{"sql", "--data", dir, "SELECT cty FROM trips"}},
		{"unknown_analysis", "nope", []string{"run", "nope", "--data", dir}},
		{"bad_param", "rain_mm", []string{"run", "bikes", "--data", dir, "--param", "rain_mm=wet"}},
		{"no_cluster", "no cluster answers", []string{"submit", "bikes", "--data", dir, "--entry", "tcp://127.0.0.1:1", "--patience", "50ms"}},
		{"usage", "give a size", []string{"run", "bikes", "--data", dir, "--chunk", "0"}},
	} {
		told, r := eventsOf(t, c.args...)
		if len(told) != 1 || told[0]["type"] != "error" || told[0]["code"] != c.code || !strings.Contains(told[0]["message"].(string), c.says) {
			t.Errorf("%v: %v", c.args, told)
		}
		if r.code == exit.OK || r.err == "" {
			t.Errorf("%v: exit code %d, %q on standard error", c.args, r.code, r.err)
		}
	}
	told, _ := eventsOf(t, "sql", "--data", dir, "SELECT sqrt(-id) FROM trips")
	f, _ := told[len(told)-1]["fields"].(map[string]any)
	if f["cause"] != "statement" || f["file"] != "trips.csv" || f["line"] != "2" || f["analysis"] != "sql" || f["node"] == "" {
		t.Errorf("the failure of a session has the fields %v", f)
	}
	if r := posta(t, "sql", "--events", "--json", "SELECT 1"); r.code != exit.Usage || !strings.Contains(r.err, "give one of the two") {
		t.Errorf("--events with --json: %d, %s", r.code, r.err)
	}
}

func TestEventsTellWhatIsExplained(t *testing.T) {
	dir := table(t, "trips.csv", "id,city\n1,Montreal\n")
	told, _ := eventsOf(t, "sql", "--data", dir, "--explain", "SELECT count(*) FROM trips")
	if len(told) != 1 || !strings.Contains(told[0]["text"].(string), "table trips: 1 file") {
		t.Errorf("%v", told)
	}
}

// failing is the standard output of a command whose caller ends after some bytes.
type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("nobody reads")
	}
	return len(b), nil
}

// TestUnreadEventsEndTheCommand: the command cancels its session and ends its cluster, as at Ctrl-C.
func TestUnreadEventsEndTheCommand(t *testing.T) {
	dir := data(t, "2000")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var err await.Log
	code := runWithin(ctx, context.Background(), program(), []string{"posta", "run", "bikes", "--data", dir, "--events"},
		Console{In: strings.NewReader(""), Out: &failing{left: 10}, Err: &err})
	if code != exit.Interrupted {
		t.Errorf("exit code %d: %s", code, err.String())
	}
}
