package split

import (
	"strings"
	"testing"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/exec"
)

// TestRowsThatOnlyHaveToExistAreGroups: where the reducer asks only whether a row has a partner, it gets no two equal rows of the other
// side, and gives the same answer as with all rows, which it gets if the join has a condition beside its keys.
func TestRowsThatOnlyHaveToExistAreGroups(t *testing.T) {
	files := joinable()
	for _, on := range []string{"bk = ak", "bt = at", "bx * 0e0 = ax * 0e0", "bk = ak AND bt = at", "bk + 1 = ak"} {
		for _, kind := range []string{"EXISTS", "NOT EXISTS"} {
			ask := func(more string) string {
				return "SELECT ak, an, at FROM a WHERE an > (SELECT avg(an) - 3 FROM a) AND " + kind + " (SELECT 1 FROM b WHERE " + on + more +
					") ORDER BY ak, an, at"
			}
			grouped := func(text string) (answered string, groups bool) {
				p := planOf(t, text, files)
				p.PartitionFrom = -1
				s, err := p.statement()
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range s.Leaves {
					groups = groups || l.Once != nil && l.Keep == exec.KeepGroups && l.Scan.Table.Name == "b"
				}
				if first := s.Leaves[0].Scan.Table.Name; first != "a" { // tables have the order of the statement, also where rejected rows are listed
					t.Errorf("%s: the first table is %s", text, first)
				}
				for seed := range uint64(3) {
					got, err := answer(t, p, files, local.Options{Joiners: 1 + int(seed), Aggregators: 1 + int(seed), Seed: seed, ChunkBytes: 300})
					if err != nil || seed > 0 && got != answered {
						t.Fatalf("%s, seed %d: %v\n got  %.300s\n want %.300s", text, seed, err, got, answered)
					}
					answered = got
				}
				return answered, groups
			}
			got, groups := grouped(ask(""))
			want, all := grouped(ask(" AND (bn >= an - 100 OR bn IS NULL OR an IS NULL)"))
			if got != want || !groups || all || !strings.Contains(got, "],[") {
				t.Errorf("%s %s: groups %t, with a condition %t\n got  %.300s\n want %.300s", kind, on, groups, all, got, want)
			}
		}
	}
}
