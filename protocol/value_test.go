package protocol

import (
	"reflect"
	"testing"
)

// TestValuesOfAllKindsTravel: emitted values are decoded unchanged, including NULL and booleans, and from the middle of a
// part.
func TestValuesOfAllKindsTravel(t *testing.T) {
	rows, want := NewRows(2), [][]Value{}
	for i, v := range []any{nil, true, false, int64(-7), 0.5, "", "true"} {
		cell, err := ValueOf(v)
		if err != nil {
			t.Fatal(err)
		}
		row := []Value{{Kind: Int, Int: int64(i)}, cell}
		if err := rows.Add(row...); err != nil {
			t.Fatal(err)
		}
		want = append(want, row)
	}
	part := Reply{Type: Parts, State: "done", Complete: true, Parts: []Part{
		{N: 1, Query: "q", Columns: []string{"n", "v"}, Rows: rows, Last: true}}}
	reply, err := DecodeReply(part.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	got, texts := [][]Value{}, []string{}
	for row := range reply.Parts[0].Rows.All() {
		got = append(got, append([]Value{}, row...))
		texts = append(texts, string(row[1].AppendJSON(nil)))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if json := []string{"null", "true", "false", "-7", "0.5", `""`, `"true"`}; !reflect.DeepEqual(texts, json) {
		t.Errorf("as JSON %q, want %q", texts, json)
	}
	rest := reply.Parts[0].Rows.Skip(2)
	for row := range rest.All() {
		if row[0].Int != 2 || row[1] != want[2][1] {
			t.Errorf("behind two rows comes %v", row)
		}
		break
	}
}

// TestPlansTravel: an open request keeps its plan, and one with a plan that is too long is refused.
func TestPlansTravel(t *testing.T) {
	q := Request{Type: Open, Session: testID, Token: testToken, Analysis: "sql", Plan: []byte("plan")}
	got, err := DecodeRequest(q.Append(nil))
	if err != nil || string(got.Plan) != "plan" {
		t.Errorf("%q, %v", got.Plan, err)
	}
	q.Plan = make([]byte, MaxPlan+1)
	if _, err := DecodeRequest(q.Append(nil)); err == nil {
		t.Error("a plan that is too long is taken")
	}
}
