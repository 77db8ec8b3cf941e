package parser

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/test/roletest"
)

// TestPrepare: chunks that are prepared in parallel give the same results as chunks that are not: good chunks, chunks with bad rows, chunks
// without rows, and chunks that no parser can take.
func TestPrepare(t *testing.T) {
	var messages []role.Message
	for i := range 12 {
		messages = append(messages, roletest.Chunk(1, uint64(2+i), strings.Repeat(fmt.Sprintf("red,%d\nblue,%d\n", i, i), 500+i)))
	}
	messages[3] = roletest.Chunk(1, 2, "red,x\nblue,4\n")
	messages[5] = roletest.Chunk(1, 2, "")
	odd := roletest.Chunk(1, 2, "red,4\n")
	odd.Chunk.File = "of no stream"
	messages[7] = odd
	plain, before := opened(t), &roletest.Kept{}
	prepared, after := opened(t), &roletest.Kept{}
	for round := range 3 {
		var wg sync.WaitGroup
		for i, m := range messages {
			if i%5 == round {
				continue // this one is not prepared
			}
			if work := prepared.Prepare(id, m.Stream, m.Chunk, role.NoLimits); work != nil {
				wg.Add(1)
				go func() { defer wg.Done(); work() }()
			}
		}
		wg.Wait()
		for i, m := range messages {
			alone := *m.Chunk
			alone.Prepared = nil
			_, want := plain.Take(id, role.Message{Stream: m.Stream, Chunk: &alone}, before)
			_, got := prepared.Take(id, m, after)
			if fmt.Sprint(want) != fmt.Sprint(got) {
				t.Fatalf("chunk %d: %v, not %v", i, got, want)
			}
		}
	}
	if len(before.All) != len(after.All) {
		t.Fatalf("%d batches, not %d", len(after.All), len(before.All))
	}
	for i := range before.All {
		if !bytes.Equal(before.All[i].Payload, after.All[i].Payload) {
			t.Fatalf("batch %d differs", i)
		}
	}
}

// TestPreparedWorkBelongsToItsChunk: the result of a chunk that was not taken never counts for another chunk in the same memory.
func TestPreparedWorkBelongsToItsChunk(t *testing.T) {
	p, out := opened(t), &roletest.Kept{}
	m := roletest.Chunk(1, 2, "red,3\n")
	p.Prepare(id, m.Stream, m.Chunk, role.NoLimits)()
	copy(m.Chunk.Data, "red,4\n")
	next := role.Message{Stream: m.Stream, Chunk: &role.Chunk{File: m.Chunk.File, Header: m.Chunk.Header, Line: m.Chunk.Line,
		Data: m.Chunk.Data}}
	if _, err := p.Take(id, next, out); err != nil {
		t.Fatal(err)
	}
	other := &roletest.Kept{}
	if _, err := opened(t).Take(id, roletest.Chunk(1, 2, "red,4\n"), other); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.All[0].Payload, other.All[0].Payload) {
		t.Fatal("a chunk was taken for another one")
	}
}

// TestN6_PanicInPreparedWork: a parser that panics in prepared work fails its session, and not the process.
func TestN6_PanicInPreparedWork(t *testing.T) {
	p := opened(t)
	m := roletest.Chunk(1, 10, "red,-2\n")
	work := p.Prepare(id, m.Stream, m.Chunk, role.NoLimits)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { defer wg.Done(); work() }()
	wg.Wait()
	if _, err := p.Take(id, m, &roletest.Kept{}); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Fatalf("%v", err)
	}
}
