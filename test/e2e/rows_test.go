package e2e

import (
	"errors"
	"strings"
	"testing"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/topology"
)

// TestN7_BadRowsAreReported: a row that cannot be parsed is skipped, counted, and reported with file and line. The other rows count.
func TestN7_BadRowsAreReported(t *testing.T) {
	dir := write(t, town(
		"2017-06-01 09:00:00,1,2017-06-01 09:10:00,2,not a number,1,2017", // line 3
		"2017-06-01 10:00:00,1,2017-06-01 10:10:00,2,1200.0,1,2017",
		"yesterday,1,2017-06-01 10:10:00,2,1200.0,1,2017", // line 5
	))
	c := start(t, topology.Variant{})
	a, err := client.Run(deadline(t), client.Config{Entries: c.topo.EntryPoints(), Analysis: "bikes", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for row := range a.Query("rain").All() {
		rows++
		if row[1].Float != 900 || row[2].Int != 2 {
			t.Errorf("rain: %v, want the mean of two trips", row)
		}
	}
	if rows != 1 {
		t.Errorf("rain has %d rows", rows)
	}
	for _, r := range a.Rejected {
		if r.Stream != "trips" {
			continue
		}
		if r.Rows != 2 || len(r.First) != 2 || r.First[0].Line != 3 || r.First[1].Line != 5 || r.First[0].File != "montreal/trips.csv" {
			t.Errorf("rejected: %+v", r)
		}
		return
	}
	t.Errorf("nothing is said of bad trips: %+v", a.Rejected)
}

// TestN6_FileWithoutAColumn: the session fails with a reason that says what to do, and the nodes keep running.
func TestN6_FileWithoutAColumn(t *testing.T) {
	files := town()
	files["montreal/trips.csv"] = strings.Replace(files["montreal/trips.csv"], "duration_sec", "seconds", 1)
	c := start(t, topology.Variant{SplitParsers: true})
	b := c.listen()
	ctx := deadline(t)
	_, err := client.Run(ctx, client.Config{Entries: c.topo.EntryPoints(), Analysis: "bikes", Dir: write(t, files)})
	if !errors.Is(err, protocol.ErrFailed) {
		t.Fatalf("got %v, not a failed session", err)
	}
	for _, word := range []string{"duration_sec", "montreal/trips.csv", "bikes"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the reason does not mention %s: %v", word, err)
		}
	}
	c.shrinks(b)
	d := generated(t, 20_000)
	d.check(t, c.analyse(ctx, d.dir, nil))
	c.noUnexpectedExits()
}
