package analysistest

import (
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// Session is a joiner of an analysis with default parameters, and the tables that it flushes to. It is for tests that choose
// the batches and their order.
type Session struct {
	analyses.Joiner
	Args   analyses.Args
	Tables []*fold.Table // as Analysis.Tables
}

// NewSession returns a session that has seen nothing.
func NewSession(t testing.TB, a *analyses.Analysis, replica analyses.Replica) *Session {
	t.Helper()
	args, err := a.Args(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{Args: args, Tables: newTables(a, fold.NewTable)}
	if s.Joiner, err = a.NewJoiner(args, replica); err != nil {
		t.Fatal(err)
	}
	return s
}

func newTables(a *analyses.Analysis, empty func(*fold.Spec) *fold.Table) []*fold.Table {
	var tables []*fold.Table
	for i := range a.Tables {
		tables = append(tables, empty(&a.Tables[i]))
	}
	return tables
}

// Frame parses rows of a stream, each given as its wanted fields. All rows must be good.
func Frame(t testing.TB, a *analyses.Analysis, stream int, file analyses.File, rows ...[]string) []byte {
	t.Helper()
	args, err := a.Args(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := batch.NewBuilder(a.Streams[stream].Schema)
	parse, err := a.RowParser(args, stream, file, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		fields := make([][]byte, len(row))
		for i, f := range row {
			fields[i] = []byte(f)
		}
		if err := parse(fields); err != nil {
			t.Fatal(err)
		}
	}
	return b.Append(nil)
}

// Decode decodes a frame as a joiner does.
func Decode(t testing.TB, a *analyses.Analysis, stream int, frame []byte) *batch.Batch {
	t.Helper()
	b, err := batch.Decode(frame, a.Streams[stream].Schema)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
