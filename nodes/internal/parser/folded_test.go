package parser

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

// sums folds amounts by colour. It refuses the rows if one amount is 7, and panics at 8.
type sums struct{ tables []*fold.Table }

func (s *sums) Fold(b *batch.Builder, _ analyses.Position) ([]*fold.Table, bool) {
	colours, err := batch.Decode(b.Append(nil), roletest.Analysis().Streams[1].Schema)
	if err != nil {
		panic(err)
	}
	s.tables[1].Reset()
	for i := range b.Rows() {
		amount := colours.Ints(1).At(i)
		if amount == 7 {
			return nil, false
		}
		if amount == 8 {
			panic("an amount of eight")
		}
		s.tables[1].AddSum(s.tables[1].Row(s.tables[1].Key().Text(colours.Texts(0).At(i))), 0, amount)
	}
	return s.tables, true
}

func folding(t *testing.T, fails error) *Parser {
	t.Helper()
	p, session := New(), roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)
	a := *session.Analysis
	a.NewFolder = func(_ analyses.Args, stream int) (analyses.Folder, error) {
		if stream != 1 {
			t.Errorf("a folder of stream %d", stream)
		}
		tables := role.NewTables(&a, fold.NewOutgoing)
		return &sums{tables[:len(a.Tables)]}, fails
	}
	session.Analysis = &a
	if err := p.Open(session); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestParser_Folds: if the analysis folds rows in the parser, tables travel with the rejected rows. Rows travel if the folder refuses them,
// if tables are too large for a frame (R15), and in reference streams.
func TestParser_Folds(t *testing.T) {
	plain := opened(t)
	for _, c := range []struct {
		name, rows   string
		stream, most int
		folds        bool
	}{
		{"few groups", "red,3\nblue,4\nred,1\nred,none\n", 1, 1 << 20, true},
		{"what a folder refuses", "red,3\nblue,7\n", 1, 1 << 20, false},
		{"the next chunk", "red,5\n", 1, 1 << 20, true},
		{"rejected rows alone", "red,none\n", 1, 1 << 20, false},
		{"a small frame", strings.Repeat("r", 100) + ",1\n" + strings.Repeat("r", 101) + ",1\n" + strings.Repeat("r", 102) + ",1\n", 1, 300,
			false},
		{"reference rows", "red\n", 0, 1 << 20, false},
	} {
		p := folding(t, nil)
		for range 2 { // the second time memory is reused
			out, rows := &roletest.Kept{Frame: c.most}, &roletest.Kept{Frame: c.most}
			if _, err := p.Take(id, roletest.Chunk(c.stream, 2, c.rows), out); err != nil {
				t.Fatal(c.name, err)
			}
			if _, err := plain.Take(id, roletest.Chunk(c.stream, 2, c.rows), rows); err != nil {
				t.Fatal(c.name, err)
			}
			got, err := role.DecodeRows(out.All[0].Payload)
			want, _ := role.DecodeRows(rows.All[0].Payload)
			if err != nil || (len(got.Folded) > 0) != c.folds || !bytes.Equal(got.Rejected, want.Rejected) || got.Line != 2 ||
				got.File.Name != want.File.Name {
				t.Fatalf("%s: %+v, %v", c.name, got, err)
			}
			if !c.folds {
				for i := range rows.All {
					if !bytes.Equal(out.All[i].Payload, rows.All[i].Payload) {
						t.Errorf("%s: other rows travel than without a folder", c.name)
					}
				}
				continue
			}
			tables := role.NewTables(roletest.Analysis(), fold.NewTable)
			for _, f := range got.Folded {
				if err := role.Merge(tables, f); err != nil {
					t.Fatal(err)
				}
			}
			red := tables[1].Row(tables[1].Key().String("red"))
			if want := map[string]int64{"few groups": 4, "the next chunk": 5}[c.name]; tables[1].Sum(red, 0) != want || len(got.Batch) > 0 {
				t.Errorf("%s: red is %d, not %d, and there are %d bytes of rows", c.name, tables[1].Sum(red, 0), want, len(got.Batch))
			}
		}
	}
}

// TestN6_AFolderThatFails: it fails its session, and no other.
func TestN6_AFolderThatFails(t *testing.T) {
	if _, err := folding(t, errors.New("no folder today")).Take(id, roletest.Chunk(1, 2, "red,3\n"), &roletest.Kept{}); err == nil ||
		!strings.Contains(err.Error(), "no folder today") {
		t.Error(err)
	}
	p := folding(t, nil)
	if _, err := p.Take(id, roletest.Chunk(1, 9, "red,8\n"), &roletest.Kept{}); err == nil ||
		!strings.Contains(err.Error(), "from line 9: panic: an amount of eight") {
		t.Error(err)
	}
	out := &roletest.Kept{}
	if _, err := p.Take(id, roletest.Chunk(1, 2, "red,3\n"), out); err != nil || len(out.All) != 1 {
		t.Error(err)
	}
}
