package parser

import (
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

var id = roletest.ID("s")

func opened(t *testing.T) *Parser {
	t.Helper()
	p := New()
	if err := p.Open(roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParser_MakesBatchesOfTheColumnsThatAreNeeded(t *testing.T) {
	p, out := opened(t), &roletest.Kept{}
	durable, err := p.Take(id, roletest.Chunk(1, 2, "red,3\nblue,4\n"), out)
	if err != nil || durable || len(out.All) != 1 {
		t.Fatal(durable, err, out.All)
	}
	rows, err := role.DecodeRows(out.All[0].Payload)
	if err != nil || rows.Line != 2 || rows.File.Tags[0] != "shop" || len(rows.Rejected) != 0 {
		t.Fatalf("%+v, %v", rows, err)
	}
	b, err := batch.Decode(rows.Batch, roletest.Analysis().Streams[1].Schema)
	if err != nil || b.Rows() != 2 || b.Ints(1).At(1) != 4 {
		t.Fatal(err)
	}
}

// TestParser_OnANodeOfItsOwn: there, the chunk arrives as bytes.
func TestParser_OnANodeOfItsOwn(t *testing.T) {
	p, near, far := opened(t), &roletest.Kept{}, &roletest.Kept{}
	m := roletest.Chunk(1, 2, "red,3\n")
	if _, err := p.Take(id, m, near); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Take(id, role.Message{Stream: 1, Payload: m.Chunk.Append(nil)}, far); err != nil {
		t.Fatal(err)
	}
	if string(near.All[0].Payload) != string(far.All[0].Payload) {
		t.Fatal("they differ")
	}
	if _, err := p.Take(id, role.Message{Stream: 1, Payload: []byte("?")}, far); err == nil {
		t.Fatal("rubbish is parsed")
	}
}

// TestR9_PayloadsAreAsLargeAsTheyCount: a window counts lengths, so unused capacity of payloads would be memory without a bound. The sizes
// also decrease here, because memory is reused from chunk to chunk.
func TestR9_PayloadsAreAsLargeAsTheyCount(t *testing.T) {
	p, out := opened(t), &roletest.Kept{}
	for i, rows := range []int{10, 20_000, 3, 5000} {
		if _, err := p.Take(id, roletest.Chunk(1, 2, strings.Repeat("red,3\n", rows)), out); err != nil {
			t.Fatal(err)
		}
		if payload := out.All[i].Payload; cap(payload) > len(payload)+len(payload)/4+64 {
			t.Errorf("%d rows: %d bytes in memory of %d", rows, len(payload), cap(payload))
		}
	}
	first, err := role.DecodeRows(out.All[0].Payload)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := batch.Decode(first.Batch, roletest.Analysis().Streams[1].Schema); err != nil || b.Rows() != 10 {
		t.Errorf("the first payload was written over: %v", err)
	}
}

func TestN7_BadRowsAreCountedWithFileAndLine(t *testing.T) {
	p, out := opened(t), &roletest.Kept{}
	if _, err := p.Take(id, roletest.Chunk(1, 10, "red,3\nred,many\n,1\n"), out); err != nil {
		t.Fatal(err)
	}
	rows, err := role.DecodeRows(out.All[0].Payload)
	if err != nil {
		t.Fatal(err)
	}
	tables := role.NewTables(roletest.Analysis(), fold.NewTable)
	if err := tables[2].Merge(rows.Rejected); err != nil {
		t.Fatal(err)
	}
	r, err := analyses.RejectsOf(tables[2], "pots")
	if err != nil || r.Rows != 2 || r.First[0].Line != 11 || r.First[1].Line != 12 || !strings.Contains(r.First[0].Reason, "many") {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestN6_WhatEndsTheSessionSaysWhere(t *testing.T) {
	p := opened(t)
	for name, m := range map[string]role.Message{
		"panic":        roletest.Chunk(1, 10, "red,-2\n"),
		"other header": {Stream: 1, Chunk: &role.Chunk{File: "shop/pots.csv", Header: []byte("a,b"), Line: 10, Data: []byte("1,2\n")}},
		"other file": {Stream: 1, Chunk: &role.Chunk{File: "shop/brushes.csv", Header: []byte("colour,amount"), Line: 10,
			Data: []byte("1,2\n")}},
	} {
		_, err := p.Take(id, m, &roletest.Kept{})
		if err == nil || !strings.Contains(err.Error(), "stream pots") || !strings.Contains(err.Error(), "from line 10") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestR16_ManyFilesTakeNoMemory: the memory kept for later chunks does not grow with the number of files, in any order. A file that reuses
// another one's memory is parsed as if it were the first.
func TestR16_ManyFilesTakeNoMemory(t *testing.T) {
	p := opened(t)
	for i := range 300 {
		m := roletest.Chunk(1, 2, "red,3\n")
		m.Chunk.File = "shop" + strings.Repeat("p", i) + "/pots.csv"
		got, want := &roletest.Kept{}, &roletest.Kept{}
		if _, err := p.Take(id, m, got); err != nil {
			t.Fatal(err)
		}
		if _, err := opened(t).Take(id, m, want); err != nil || string(got.All[0].Payload) != string(want.All[0].Payload) {
			t.Fatalf("file %d is parsed otherwise by itself, %v", i, err)
		}
	}
	var ahead []role.Message // as many chunks as are prepared before the first is taken
	for i := range 3 * maxIdle {
		m := roletest.Chunk(1, 2, "red,3\n")
		m.Chunk.File = "side" + strings.Repeat("p", i) + "/pots.csv"
		p.Prepare(id, m.Stream, m.Chunk, role.NoLimits)()
		ahead = append(ahead, m)
	}
	for _, m := range ahead {
		if _, err := p.Take(id, m, &roletest.Kept{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(p.sessions[id].idle); n != maxIdle {
		t.Fatalf("%d parsers are kept, not %d", n, maxIdle)
	}
	p.Drop(id, role.Outcome{})
	if len(p.sessions) != 0 {
		t.Fatal("a session stays")
	}
}
