package reducer

import (
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/protocol"
	"posta.dev/posta/test/roletest"
)

// TestR15_PartsAreSplit: a part of an answer leaves in messages that keep to the limit. Their rows and offsets continue each other.
func TestR15_PartsAreSplit(t *testing.T) {
	st := &state{Session: roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)}
	p := protocol.Part{Query: "amounts", Columns: []string{"n", "text"}, Rows: protocol.NewRows(2), Offset: 5, Last: true}
	for i := range 100 {
		if err := p.Rows.Add(protocol.Value{Kind: protocol.Int, Int: int64(i)},
			protocol.Value{Kind: protocol.Text, Text: strings.Repeat("x", i)}); err != nil {
			t.Fatal(err)
		}
	}
	out := &roletest.Kept{Frame: 400}
	if err := st.emit(encode(p), out); err != nil {
		t.Fatal(err)
	}
	next := int64(0)
	for i, e := range out.All {
		r, err := protocol.DecodeReply(e.Payload)
		if err != nil || len(e.Payload) > out.Frame || r.Parts[0].Offset != uint64(5+next) || r.Parts[0].Last != (i == len(out.All)-1) {
			t.Fatalf("message %d of %d: %d bytes, %+v, %v", i, len(out.All), len(e.Payload), r.Parts, err)
		}
		for row := range r.Parts[0].Rows.All() {
			if row[0].Int != next {
				t.Fatalf("row %d is %d", next, row[0].Int)
			}
			next++
		}
	}
	if next != 100 {
		t.Fatalf("%d rows", next)
	}
	err := st.emit(encode(p), &roletest.Kept{Frame: 200})
	if err == nil || !strings.Contains(err.Error(), "query amounts") || !strings.Contains(err.Error(), "limits.frame") {
		t.Fatalf("a row that is too large: %v", err)
	}
}
