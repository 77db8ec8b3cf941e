package role_test

import (
	"strings"
	"testing"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

var histogram = fold.Spec{
	Name: "fares", Stream: "pots", Keys: []fold.Key{{Name: "journey", Kind: fold.KeyText}},
	Aggs: []fold.Agg{{Name: "cents", Kind: fold.Counts}, {Name: "best", Kind: fold.MinText}},
}

// TestR15_PartialsKeepToTheLimit: rows of any size leave in payloads within the limit, each row once. A row or a cell that is larger than
// any payload may be is an error, which names stream, table and key.
func TestR15_PartialsKeepToTheLimit(t *testing.T) {
	a := roletest.Analysis()
	a.Tables = []fold.Spec{histogram}
	t1 := fold.NewTable(&histogram)
	for i := range 300 {
		row := t1.Row(t1.Key().String(strings.Repeat("k", i%7) + string(rune('a'+i%26)) + strings.Repeat("z", i)))
		for v := range i {
			t1.AddCount(row, 0, int64(v)<<30, 1+int64(v%3))
		}
		t1.PutMinText(row, 1, []byte(strings.Repeat("t", i)))
	}
	for _, frame := range []int{4 << 10, 16 << 10, 1 << 20} {
		var enc role.PartialEncoder
		out := &roletest.Kept{Frame: frame}
		if err := enc.Emit(out, 1, 1, 0, t1, t1.Rows()); err != nil {
			t.Fatal(err)
		}
		merged := role.NewTables(a, fold.NewTable)
		for _, e := range out.All {
			if len(e.Payload) > frame || e.Partition != 1 || e.Stream != 1 {
				t.Fatalf("R15: a payload of %d bytes, partition %d, stream %d", len(e.Payload), e.Partition, e.Stream)
			}
			if err := role.Merge(merged, e.Payload); err != nil {
				t.Fatal(err)
			}
		}
		if merged[0].Len() != t1.Len() {
			t.Fatalf("%d rows, not %d", merged[0].Len(), t1.Len())
		}
	}
	var enc role.PartialEncoder
	err := enc.Emit(&roletest.Kept{Frame: 1000}, 0, 1, 0, t1, t1.Rows())
	for _, want := range []string{"stream pots", "table fares", "journey", "limits.frame"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%q is not in: %v", want, err)
		}
	}
}

// TestR15_PagesAreTheSameAfterASnapshot: where a page ends depends on the content of the rows alone, not on how the rows arrived. Otherwise
// a repeated call would emit other rows than the original call.
func TestR15_PagesAreTheSameAfterASnapshot(t *testing.T) {
	live, again := fold.NewTable(&histogram), fold.NewTable(&histogram)
	for i := range 200 {
		row := live.Row(live.Key().String(strings.Repeat("k", i)))
		for v := range 3 * i {
			live.AddCount(row, 0, int64((v*7919)%101), 1+int64(v%4))
		}
	}
	if err := again.Merge(live.AppendRows(nil, live.Rows())); err != nil {
		t.Fatal(err)
	}
	pages := 0
	for from := 0; from < live.Len(); pages++ {
		to, other := live.Page(from, 50, 2000), again.Page(from, 50, 2000)
		if to != other || to <= from || to-from > 50 {
			t.Fatalf("the page from row %d ends at %d, and at %d after a snapshot", from, to, other)
		}
		from = to
	}
	if pages < 10 {
		t.Fatalf("%d pages show nothing", pages)
	}
}
