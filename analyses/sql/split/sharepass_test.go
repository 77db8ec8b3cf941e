package split

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/local"
)

// rounds answers statements in rounds: the next steps of all statements share a session, be they passes or answers. It returns the answers,
// and how many steps each session computed.
func rounds(t *testing.T, p *Plan, files fstest.MapFS, o local.Options) (answers []string, sessions []int, err error) {
	t.Helper()
	plans := make([]*Plan, len(p.Parts()))
	for i := range plans {
		plans[i] = p.Alone(i)
	}
	answers = make([]string, len(plans))
	for {
		var of []int
		var steps []*Plan
		last := map[int]bool{}
		for i, p := range plans {
			if answers[i] != "" {
				continue
			}
			next := p.NextPass()
			if last[i] = next == nil; next == nil {
				next = p
			}
			of, steps = append(of, i), append(steps, next)
		}
		if len(of) == 0 {
			return answers, sessions, nil
		}
		sessions = append(sessions, len(of))
		a, err := Analysis(Together(steps))
		if err != nil {
			return nil, sessions, err
		}
		got, err := local.Run(a, files, o)
		if err != nil {
			return nil, sessions, err
		}
		for k, i := range of {
			if last[i] {
				rows, err := json.Marshal(append([][]any{}, got.Queries[k].Rows...))
				if err != nil {
					t.Fatal(err)
				}
				answers[i] = string(rows)
				continue
			}
			var values []string
			for _, row := range got.Queries[k].Rows {
				values = append(values, row[0].(string))
			}
			if plans[i], err = plans[i].Answered(steps[k], values); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestQ3_PassesShareAScan: a pass of a statement shares the scan of other statements and of their passes, and so does what follows a pass.
// All answers are those that each statement gives alone.
func TestQ3_PassesShareAScan(t *testing.T) {
	files := someTables(rand.New(rand.NewPCG(5, 9)))
	for _, c := range []struct {
		texts    []string
		sessions []int
	}{
		{[]string{"SELECT tc, count(*) FROM t WHERE tn > (SELECT avg(tn) FROM t WHERE tn > 3) GROUP BY tc ORDER BY 1",
			"SELECT count(*), sum(tn) FROM t"}, []int{2, 1}},
		{[]string{"SELECT count(*) FROM t", "SELECT tc, count(*) FROM t WHERE tn > (SELECT avg(tn) FROM t) GROUP BY tc ORDER BY 1",
			"SELECT sum(tx) FROM t WHERE tk IN (SELECT tk FROM t WHERE tn > 20)", "SELECT DISTINCT tc FROM t ORDER BY 1"}, []int{4, 2}},
		{[]string{"SELECT count(*) FROM t WHERE tn > (SELECT avg(tn) FROM t WHERE tk > (SELECT min(tk) FROM t))",
			"SELECT max(tx) FROM t WHERE EXISTS (SELECT 1 FROM t WHERE tn > 20)", "SELECT sum(tn) FROM t"}, []int{3, 2, 1}},
		{[]string{"SELECT tn FROM t WHERE tn > (SELECT avg(tn) FROM t) ORDER BY ALL",
			"SELECT tn FROM t WHERE tn > (SELECT avg(tn) FROM t) ORDER BY ALL"}, []int{2, 2}},
		{[]string{"SELECT count(*) FROM t WHERE tx > (SELECT avg(tx) FROM t WHERE tn > 1000000)",
			"SELECT count(*) FROM t WHERE tk NOT IN (SELECT tk FROM t WHERE tn > 1000000)"}, []int{2, 2}},
	} {
		p := large(planOf(t, strings.Join(c.texts, ";\n"), files))
		for i := range c.texts[1:] {
			p.Also = append(p.Also, Part{Statement: i + 1})
		}
		for seed := range uint64(4) {
			o := local.Options{Joiners: 1 + int(seed), Aggregators: 1 + int(seed), Seed: seed, ChunkBytes: 60}
			got, sessions, err := rounds(t, p, files, o)
			if err != nil || !reflect.DeepEqual(sessions, c.sessions) {
				t.Fatalf("%v: sessions of %v steps, %v", c.texts, sessions, err)
			}
			for i, text := range c.texts {
				want, err := answer(t, small(planOf(t, text, files), files), files, local.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if got[i] != want {
					t.Errorf("seed %d: %s\n   in rounds %s\n   alone     %s", seed, text, got[i], want)
				}
			}
		}
	}
}

// TestPlansOfOtherTablesAreNotJoined: statements share a session only if their plans agree about the tables. One statement is in a session
// once.
func TestPlansOfOtherTablesAreNotJoined(t *testing.T) {
	p := anyPlan()
	other := anyPlan()
	other.Statement, other.Tables[0].Columns[1].Inferred = 0, true
	if Together([]*Plan{p, other}) != nil {
		t.Error("plans of different tables are joined")
	}
	if other = anyPlan(); Together([]*Plan{p, other}) == nil || Together([]*Plan{p}) == nil {
		t.Error("plans of the same tables are not joined")
	}
	if _, err := Analysis(Together([]*Plan{p, other})); !errors.Is(err, ErrPlan) {
		t.Errorf("a statement that is in a session twice: %v", err)
	}
	if p.Also != nil {
		t.Error("Together changes its plans")
	}
}
