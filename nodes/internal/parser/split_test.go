package parser

import (
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/test/roletest"
)

// TestR15_ABatchIsSplit: the pieces of a chunk keep to the limit, hold every row once and in order, and name the line at which they begin.
// This holds for prepared chunks, too.
func TestR15_ABatchIsSplit(t *testing.T) {
	const rows, frame = 2000, 2048
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, "red,%d\n", i)
		if i%100 == 7 {
			text.WriteString("red,none\n")
		}
	}
	for _, prepared := range []bool{false, true} {
		p, out := opened(t), &roletest.Kept{Frame: frame}
		m := roletest.Chunk(1, 2, text.String())
		if prepared {
			p.Prepare(id, m.Stream, m.Chunk, out.Limits())()
		}
		if _, err := p.Take(id, m, out); err != nil {
			t.Fatal(err)
		}
		next, line := int64(0), uint64(0)
		for _, e := range out.All[:len(out.All)-1] {
			if len(e.Payload) > frame {
				t.Fatalf("R15: a payload of %d bytes", len(e.Payload))
			}
			r, err := role.DecodeRows(e.Payload)
			if err != nil || r.Line <= line || len(r.Rejected) > 0 {
				t.Fatalf("line %d after %d: %v", r.Line, line, err)
			}
			line = r.Line
			b, err := batch.Decode(r.Batch, roletest.Analysis().Streams[1].Schema)
			if err != nil {
				t.Fatal(err)
			}
			if want := uint64(2 + next + (next+92)/100); r.Line != want && r.Line != want-1 {
				t.Errorf("the piece with row %d begins on line %d, not %d", next, r.Line, want)
			}
			for i := range b.Rows() {
				if b.Ints(1).At(i) != next {
					t.Fatalf("row %d is %d", next, b.Ints(1).At(i))
				}
				next++
			}
		}
		last, err := role.DecodeRows(out.All[len(out.All)-1].Payload)
		if err != nil || len(last.Rejected) == 0 || next != rows {
			t.Fatalf("%d rows of %d, %d bytes of rejected ones, %v", next, rows, len(last.Rejected), err)
		}
	}
}

// TestR15_ARowThatNoFrameCarries: the session fails with stream, file, line, size and limit. A row that just fits does not fail it.
func TestR15_ARowThatNoFrameCarries(t *testing.T) {
	p, out := opened(t), &roletest.Kept{Frame: 1000}
	_, err := p.Take(id, roletest.Chunk(1, 10, "red,3\n"+strings.Repeat("r", 2000)+",4\n"), out)
	for _, want := range []string{"stream pots", "shop/pots.csv", "line 11", "limits.frame"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%q is not in: %v", want, err)
		}
	}
	alone := roletest.Chunk(1, 10, strings.Repeat("r", 500)+",4\n")
	if _, err := p.Take(id, alone, out); err != nil {
		t.Fatal(err)
	}
	exact := &roletest.Kept{Frame: len(out.All[len(out.All)-1].Payload)}
	if _, err := p.Take(id, alone, exact); err != nil || len(exact.All) != 1 {
		t.Fatal(err)
	}
	exact.Frame--
	if _, err := p.Take(id, alone, exact); err == nil {
		t.Fatal("R15: one byte too many is emitted")
	}
}
