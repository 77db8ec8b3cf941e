package split

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/types"
)

func anyPlan() *Plan {
	return &Plan{
		Text: "SELECT city, sum(km), $n FROM trips GROUP BY city; SELECT * FROM 'a/*.csv' ORDER BY 1 LIMIT 3", Statement: 1,
		Params: bind.Untyped(map[string]string{"n": "1"}),
		Tables: []catalog.Table{
			{Name: "trips", Files: "trips.csv", Comma: ';', Nulls: field.Nulls{"NA", ""},
				Columns: []catalog.Column{{Name: "city", Type: types.Of(types.Text), Inferred: true},
					{Name: "km", Type: types.DecimalOf(9, 2), Missing: true},
					{Name: "list", Type: types.Type{}, Typed: true}}},
			{Name: "a/*.csv", File: true, Files: "a/*.csv", Columns: []catalog.Column{{Name: "x", Type: types.Of(types.Timestamp), Typed: true},
				{Name: "part", Type: types.Of(types.Text), Star: 1}}},
		},
	}
}

func TestQ1_PlansTravelWhole(t *testing.T) {
	p := anyPlan()
	p.Also = []Part{{Statement: 0}}
	b := encoded(t, p)
	got, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Encode()) != string(b) {
		t.Error("equal plans have different bytes")
	}
	if got.Text != p.Text || !reflect.DeepEqual(got.Tables, p.Tables) || len(got.Roots) != 2 || got.Roots[0].Name == got.Roots[1].Name {
		t.Errorf("%+v", got)
	}
}

// TestQ1_OtherVersionsAreRefusedInWords: a node, even while it recovers, takes no plan whose form or meaning it does not know.
func TestQ1_OtherVersionsAreRefusedInWords(t *testing.T) {
	for at := 1; at <= 2; at++ {
		b := encoded(t, anyPlan())
		b[at]++
		if _, err := Decode(b); !errors.Is(err, ErrPlan) || !strings.Contains(err.Error(), "use the same version") {
			t.Errorf("byte %d: %v", at, err)
		}
	}
	if _, err := Decode(make([]byte, MaxPlan+1)); !errors.Is(err, ErrPlan) {
		t.Errorf("a plan that is too long: %v", err)
	}
}

// TestQ4_TextsForNullAreBounded: each field of a table is compared with all of them.
func TestQ4_TextsForNullAreBounded(t *testing.T) {
	p := anyPlan()
	p.Tables[0].Nulls = make(field.Nulls, catalog.MaxNulls)
	if _, err := Decode(encoded(t, p)); err != nil {
		t.Error(err)
	}
	p.Tables[0].Nulls = make(field.Nulls, catalog.MaxNulls+1)
	if _, err := Decode(encoded(t, p)); !errors.Is(err, ErrPlan) {
		t.Errorf("%d texts: %v", catalog.MaxNulls+1, err)
	}
}

// TestQ1_HostilePlans: bytes that are nearly a plan give an error or an analysis that passes its check, without help from the set's guard
// against panics.
func TestQ1_HostilePlans(t *testing.T) {
	r, good := rand.New(rand.NewPCG(1, 2)), encoded(t, anyPlan())
	made := 0
	for range 20_000 {
		b := append([]byte{}, good...)
		for range 1 + r.IntN(3) {
			switch r.IntN(3) {
			case 0:
				b[r.IntN(len(b))] = byte(r.Uint32())
			case 1:
				b = b[:r.IntN(len(b))+1]
			default:
				at := r.IntN(len(b))
				b = append(b[:at:at], append([]byte{byte(r.Uint32())}, b[at:]...)...)
			}
		}
		p, err := Decode(b)
		if err != nil {
			continue
		}
		a, err := p.Analysis()
		if err != nil {
			continue
		}
		if err := a.Check(); err != nil && !errors.Is(err, analyses.ErrBadAnalysis) {
			t.Fatalf("%q: %v", b, err)
		}
		made++
	}
	if made == 0 {
		t.Error("no analysis was made")
	}
}
