package role_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

func TestAnnouncement_IsTheSameForTheSame(t *testing.T) {
	a := role.Announcement{Analysis: "paint", Params: map[string]string{"fail": "yes"}}
	s, err := role.ReadAnnouncement(roletest.ID("s"), a.Encode(), roletest.Known(), analyses.Replica{Index: 1, Of: 3})
	if err != nil || s.Analysis.Name != "paint" || s.Args[0] != "yes" || s.Replica.Of != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	many := role.Announcement{Analysis: "paint", Params: map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "e": "5"}}
	first := many.Encode()
	for range 50 {
		if !bytes.Equal(many.Encode(), first) {
			t.Fatal("the order of the map shows")
		}
	}
}

// TestS5_AnAnnouncementNamesTheOwner: a takeover continues the session under the same owner, and no other owner can take it over.
func TestS5_AnAnnouncementNamesTheOwner(t *testing.T) {
	read := func(owner string, openers ...session.TokenHash) role.Session {
		a := role.Announcement{Analysis: "paint", Owner: owner, Openers: openers}
		s, err := role.ReadAnnouncement(roletest.ID("s"), a.Encode(), roletest.Known(), analyses.Replica{})
		if err != nil || s.Owner != owner {
			t.Fatalf("the session of %q is read as that of %q: %v", owner, s.Owner, err)
		}
		return s
	}
	anns := read("ann", session.TokenHash{1})
	for want, other := range map[bool][]role.Session{
		true: {read("ann", session.TokenHash{1}), read("ann", session.TokenHash{1}, session.TokenHash{2})},
		false: {read("bob", session.TokenHash{1}), read("", session.TokenHash{1}), read("bob", session.TokenHash{1}, session.TokenHash{2}),
			read("ann", session.TokenHash{2})},
	} {
		for _, s := range other {
			if anns.Same(&s) != want || s.Same(&anns) != want {
				t.Errorf("the session of ann and that of %q with openers %x: same %v, want %v", s.Owner, s.Openers, !want, want)
			}
		}
	}
}

func TestAnnouncement_OfWhatIsNotKnown(t *testing.T) {
	for _, a := range []role.Announcement{{Analysis: "sculpture"}, {Analysis: "paint", Params: map[string]string{"size": "1"}}} {
		if _, err := role.ReadAnnouncement(roletest.ID("s"), a.Encode(), roletest.Known(), analyses.Replica{}); err == nil {
			t.Errorf("%+v is taken", a)
		}
	}
	if _, err := role.ReadAnnouncement(roletest.ID("s"), []byte("?"), roletest.Known(), analyses.Replica{}); err == nil {
		t.Error("rubbish is taken")
	}
}

func TestPartition_SpreadsSessionsAndIsStable(t *testing.T) {
	seen := map[int]int{}
	for i := range 300 {
		id := roletest.ID(string(rune('a'+i%26)) + string(rune('a'+i/26)))
		p := role.Partition(id, 3)
		if p != role.Partition(id, 3) || p < 0 || p > 2 {
			t.Fatal(p)
		}
		seen[p]++
	}
	if len(seen) != 3 || seen[0] < 50 || seen[1] < 50 || seen[2] < 50 {
		t.Fatalf("%v", seen)
	}
}

func TestRows_ComeOutAsTheyWentIn(t *testing.T) {
	file := analyses.File{Name: "shop/pots.csv", Tags: []string{"shop", "x"}}
	p := append(role.AppendRowsHead(nil, file, 77, []byte("rejected")), "batch"...)
	got, err := role.DecodeRows(p)
	want := role.Rows{File: file, Line: 77, Rejected: []byte("rejected"), Batch: []byte("batch")}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	folded := role.AppendFolded(nil, file, 77, []byte("rejected"), [][]byte{[]byte("one"), []byte("two")})
	got, err = role.DecodeRows(folded)
	want = role.Rows{File: file, Line: 77, Rejected: []byte("rejected"), Folded: [][]byte{[]byte("one"), []byte("two")}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("folded: %+v, %v", got, err)
	}
	for n := range folded {
		if _, err := role.DecodeRows(folded[:n]); err == nil {
			t.Errorf("the first %d bytes of what was folded are taken", n)
		}
	}
	if _, err := role.DecodeRows(append(folded, 0)); err == nil {
		t.Error("a byte behind what was folded is taken")
	}
	head := len(p) - len("batch")
	for n := range head {
		if _, err := role.DecodeRows(p[:n]); err == nil {
			t.Errorf("the first %d bytes are taken", n)
		}
	}
}

func TestChunk_ComesOutAsItWentIn(t *testing.T) {
	c := roletest.Chunk(1, 9, "red,1\n").Chunk
	p := c.Append(nil)
	if got, err := role.DecodeChunk(p); err != nil || !reflect.DeepEqual(got, c) {
		t.Fatalf("%+v, %v", got, err)
	}
	for n := range p {
		if _, err := role.DecodeChunk(p[:n]); err == nil {
			t.Errorf("the first %d bytes are taken", n)
		}
	}
}

func TestTables_OfASnapshotMerge(t *testing.T) {
	a := roletest.Analysis()
	tables := role.NewTables(a, fold.NewTable)
	if len(tables) != 3 || role.TableStream(a, 0) != 0 || role.TableStream(a, 1) != 1 || role.TableStream(a, 2) != 1 {
		t.Fatal("the rejected rows are a table of their own, complete at the last end")
	}
	tables[1].AddSum(tables[1].Row(tables[1].Key().String("red")), 0, 5)
	again := role.NewTables(a, fold.NewTable)
	d := wire.NewReader(role.AppendTables(nil, tables))
	if err := role.ReadTables(&d, again); err != nil || again[1].Sum(0, 0) != 5 {
		t.Fatal(err)
	}
	d = wire.NewReader(role.AppendTables(nil, tables[:2]))
	if role.ReadTables(&d, role.NewTables(a, fold.NewTable)) == nil {
		t.Fatal("a snapshot of another analysis is taken")
	}
}

// TestTables_OfASnapshotComeInPieces: a snapshot writes tables in pieces of bounded size, and reading them gives the same tables.
func TestTables_OfASnapshotComeInPieces(t *testing.T) {
	a := roletest.Analysis()
	tables := role.NewTables(a, fold.NewTable)
	large := tables[1]
	for i := range 3 * role.PartialBytes / 16 {
		large.AddSum(large.Row(large.Key().String(fmt.Sprint("key ", i))), 0, int64(i))
	}
	d := wire.NewReader(role.AppendTables(nil, tables))
	if d.ArrayOf(3); d.Array() != 0 || d.Array() < 2 || d.Err() != nil {
		t.Fatalf("one piece, or none: %v", d.Err())
	}
	again := role.NewTables(a, fold.NewTable)
	d = wire.NewReader(role.AppendTables(nil, tables))
	if err := errors.Join(role.ReadTables(&d, again), d.Done()); err != nil {
		t.Fatal(err)
	}
	if got, want := again[1].AppendRows(nil, again[1].Rows()), large.AppendRows(nil, large.Rows()); !bytes.Equal(got, want) {
		t.Errorf("%d rows came back of %d, or others", again[1].Len(), large.Len())
	}
}

func TestPack_MakesPayloadsAsLargeAsTheirContent(t *testing.T) {
	tables := role.NewTables(roletest.Analysis(), fold.NewTable)
	for i := range 5000 {
		tables[1].AddSum(tables[1].Row(tables[1].Key().String(fmt.Sprint(i))), 0, 1)
	}
	var pack role.PartialEncoder
	first := pack.Encode(1, tables[1], tables[1].Rows())
	want := bytes.Clone(first)
	second := pack.Encode(1, tables[1], tables[1].Rows()[:10])
	if !bytes.Equal(first, want) || !bytes.Equal(second, new(role.PartialEncoder).Encode(1, tables[1], tables[1].Rows()[:10])) {
		t.Error("a payload changed, or is not that of its rows")
	}
	if cap(first) > len(first)*9/8 {
		t.Errorf("%d bytes of memory for %d", cap(first), len(first))
	}
}

func TestMerge_OfWhatIsNoPartial(t *testing.T) {
	tables := role.NewTables(roletest.Analysis(), fold.NewTable)
	for _, p := range [][]byte{nil, []byte("?"), wire.AppendUint(wire.AppendArray(nil, 2), 9)} {
		if role.Merge(tables, p) == nil {
			t.Errorf("%q is merged", p)
		}
	}
	if err := errors.Join(tables[0].Err(), tables[1].Err()); err != nil {
		t.Fatal(err)
	}
}

func FuzzDecodeRows(f *testing.F) {
	f.Add(role.AppendRowsHead(nil, analyses.File{Name: "n", Tags: []string{"t"}}, 3, nil))
	f.Add(role.AppendFolded(nil, analyses.File{Name: "n", Tags: []string{"t"}}, 3, nil, [][]byte{[]byte("a")}))
	f.Fuzz(func(t *testing.T, p []byte) {
		r, err := role.DecodeRows(p)
		if err != nil {
			return
		}
		back := append(role.AppendRowsHead(nil, r.File, r.Line, r.Rejected), r.Batch...)
		if r.Folded != nil {
			back = role.AppendFolded(nil, r.File, r.Line, r.Rejected, r.Folded)
		}
		again, err := role.DecodeRows(back)
		if err != nil || again.File.Name != r.File.Name || again.Line != r.Line || !bytes.Equal(again.Batch, r.Batch) ||
			!reflect.DeepEqual(again.Folded, r.Folded) {
			t.Fatalf("%+v comes back as %+v, %v", r, again, err)
		}
	})
}
