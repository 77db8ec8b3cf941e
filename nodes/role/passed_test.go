package role

import (
	"reflect"
	"testing"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol"
)

// TestD1_OrdersTravel: an order arrives as it was sent, and a row shows the cells that belong to columns. Orders that show a column twice,
// or not at all, and rows that are too short or too long, are refused.
func TestD1_OrdersTravel(t *testing.T) {
	order := Order{{Column: -1, Desc: true}, {Column: 1, NullsFirst: true}, {Column: 0, Desc: true, NullsFirst: true}}
	sent := Passed{Query: "q", Last: true, Columns: []string{"a", "b"}, Order: order}
	got, err := ReadPassed(sent.Append(nil))
	if err != nil || !reflect.DeepEqual(got.Order, order) {
		t.Fatal(got, err)
	}
	row := order.AppendRow(nil, []protocol.Value{{Text: "unseen"}, {Kind: protocol.Null}, {Kind: protocol.Int, Int: 7}})
	cells := make([]protocol.OrderedCell, 2)
	if err := order.ReadRow(row, cells); err != nil || cells[0].Value().Int != 7 || cells[1].Value().Kind != protocol.Null {
		t.Fatal(cells, err)
	}
	for n := range row {
		if order.ReadRow(row[:n], cells) == nil {
			t.Errorf("%d of %d bytes are taken for a row", n, len(row))
		}
	}
	if order.ReadRow(append(row, 0), cells) == nil {
		t.Error("a byte behind a row is skipped")
	}
	for name, bad := range map[string]Order{"twice": {{Column: 0}, {Column: 0}}, "not at all": {{Column: 0}},
		"none": {{Column: 0}, {Column: 1}, {Column: 2}}} {
		d := wire.NewReader(bad.Append(nil))
		if ReadOrder(&d, 2); d.Done() == nil {
			t.Errorf("an order that shows a column %s is taken", name)
		}
	}
}
