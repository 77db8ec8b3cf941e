package client

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"posta.dev/posta/client/core"
	"posta.dev/posta/protocol"
)

// partOf is rows of two columns, the first of which counts from first on.
func partOf(t *testing.T, first, n int) protocol.Rows {
	t.Helper()
	rows := protocol.NewRows(2)
	for i := range n {
		if err := rows.Add(protocol.Value{Kind: protocol.Int, Int: int64(first + i)},
			protocol.Value{Kind: protocol.Text, Text: strings.Repeat("x", 100)}); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

// long takes an answer of several times what is kept in memory, as it comes: two queries in turn.
func long(t *testing.T, cfg *Config, parts int) *Answer {
	t.Helper()
	in := newAssembler(cfg, []string{"p", "q"})
	for i := range parts {
		for _, q := range []string{"q", "p"} {
			if err := in.take([]core.Rows{{Query: q, Columns: []string{"n", "text"}, Rows: partOf(t, 1000*i, 1000),
				Last: i == parts-1}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return in.answer
}

func checkLong(t *testing.T, a *Answer, rows int) {
	t.Helper()
	for i := range a.Queries {
		next := int64(0)
		for row := range a.Queries[i].All() {
			if row[0].Int != next || len(row[1].Text) != 100 {
				t.Fatalf("row %d of %s is %v", next, a.Queries[i].Name, row)
			}
			next++
		}
		if next != int64(rows) {
			t.Fatalf("%s has %d rows, want %d", a.Queries[i].Name, next, rows)
		}
	}
	if err := a.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestR16_ALongAnswerTakesNoMemory: what is more than spoolMemory is in a file that nobody else sees, and is read as often as it is asked
// for.
func TestR16_ALongAnswerTakesNoMemory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const parts = 400
	a := long(t, &Config{}, parts)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if all, held := a.Queries[0].spool.end, int64(after.HeapAlloc)-int64(before.HeapAlloc); all < 8*spoolMemory || held > 2*spoolMemory {
		t.Errorf("%d bytes are in the file, and %d are held in memory", all, held)
	}
	checkLong(t, a, 1000*parts)
	checkLong(t, a, 1000*parts)
	var whole, again bytes.Buffer
	if err := a.WriteJSON(&whole); err != nil {
		t.Fatal(err)
	}
	if err := a.WriteJSON(&again); err != nil || !bytes.Equal(whole.Bytes(), again.Bytes()) ||
		bytes.Count(whole.Bytes(), []byte("\n    [")) != 2*1000*parts {
		t.Errorf("as JSON it is %d and %d bytes, %v", whole.Len(), again.Len(), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("in the temporary directory are %v, %v", left, err)
	}
}

// TestR16_ALongAnswerThatCannotBeReadIsAnError: what is missing is never skipped in silence.
func TestR16_ALongAnswerThatCannotBeReadIsAnError(t *testing.T) {
	a := long(t, &Config{}, 200)
	if err := a.Queries[0].spool.file.Truncate(a.Queries[0].spool.end / 2); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for range a.Queries[0].All() {
		rows++
	}
	if err := a.Err(); !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "query p") || rows >= a.Queries[0].Len() {
		t.Errorf("%d of %d rows, %v", rows, a.Queries[0].Len(), err)
	}
	if err := a.WriteJSON(io.Discard); !errors.Is(err, io.EOF) {
		t.Errorf("as JSON: %v", err)
	}
	t.Setenv("TMPDIR", "/nowhere")
	in := newAssembler(&Config{}, []string{"p"})
	var err error
	for i := 0; i < 200 && err == nil; i++ {
		err = in.take([]core.Rows{{Query: "p", Columns: []string{"n", "text"}, Rows: partOf(t, 0, 1000)}})
	}
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("without a directory for temporary files: %v", err)
	}
}

func TestKeepKeepsTheFirstRows(t *testing.T) {
	a := long(t, &Config{Keep: 1500}, 20)
	q := a.Query("q")
	rows := 0
	for row := range q.All() {
		if row[0].Int != int64(rows) {
			t.Fatalf("row %d is %v", rows, row)
		}
		rows++
	}
	if rows != 1500 || q.Len() != 20_000 || q.spool != nil {
		t.Errorf("%d of %d rows were kept", rows, q.Len())
	}
}
