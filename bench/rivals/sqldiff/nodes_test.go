package sqldiff

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/test/corpus"
)

// sizes sets what a plan says about the sizes of tables, on which the shape of the computation depends. If a table is huge, queries
// used as values get their own passes. If it has its own size, it is small, and every joiner has it whole. If its size is unknown,
// it is partitioned with its partner.
func sizes(r *rand.Rand, w *World, p *split.Plan) {
	p.PartitionFrom = []int64{0, 0, -1, 1}[r.IntN(4)]
	all := r.IntN(4)
	for i := range p.Tables {
		size := all
		if all == 3 {
			size = r.IntN(3)
		}
		switch t := &p.Tables[i]; size {
		case 1:
			t.Bytes, t.Rows = 1<<40, 1<<33
		case 2:
			t.Bytes, t.Rows = int64(len(w.Files[t.Files].Data)), int64(max(1, w.Source.Rows[t.Name].N))
		}
	}
}

// planned returns the plan of a text over a world, with tables of unknown size.
func planned(w *World, text string) *split.Plan {
	p := &split.Plan{Text: text}
	for _, t := range w.Tables {
		table := catalog.Table{Name: t.Name, Files: t.Name + ".csv"}
		for _, f := range t.Fields {
			table.Columns = append(table.Columns, catalog.Column{Name: f.Name, Type: f.Type})
		}
		p.Tables = append(p.Tables, table)
	}
	return p
}

// reads reports whether a statement reads tables. Only such statements reach nodes; LIMIT 0, for example, reads nothing.
func reads(t *testing.T, w *World, text string) bool {
	t.Helper()
	program, err := planned(w, text).Bind()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return plan.ReadsTables(program.Statements[0].Plan)
}

// inRounds answers the statements of a plan in rounds, each of which is a session: the next steps of all statements, be they passes or
// answers. It returns how many rounds there were.
func inRounds(w *World, p *split.Plan, o local.Options) (answers [][][]any, count int, err error) {
	var plans []*split.Plan
	for i := range p.Parts() {
		plans = append(plans, p.Alone(i))
	}
	answers = make([][][]any, len(plans))
	for done := make([]bool, len(plans)); slices.Contains(done, false); count++ {
		var of []int
		var steps []*split.Plan
		for i, p := range plans {
			if done[i] {
				continue
			}
			next := p.NextPass()
			if next == nil {
				next, done[i] = p, true
			}
			of, steps = append(of, i), append(steps, next)
		}
		got, err := corpus.ByNodes(split.Together(steps), w.Files, o)
		if err != nil {
			return nil, count, err
		}
		for k, i := range of {
			if answers[i] = got[k]; done[i] {
				continue
			}
			var values []string
			for _, row := range got[k] {
				values = append(values, fmt.Sprint(row[0]))
			}
			if plans[i], err = plans[i].Answered(steps[k], values); err != nil {
				return nil, count, err
			}
		}
	}
	return answers, count, nil
}

// For any number of nodes, wherever files are cut and whichever node crashes, the answer has the same bits, in the same order, as that of
// one process that reads rows one after the other.
func TestD1_NodesDoNotChangeAnswers(t *testing.T) {
	differences, failures, several, hidden := 0, 0, 0, 0
	for i := range uint64(*worlds / 4) {
		r := rand.New(rand.NewPCG(*seed+i, 10))
		w := NewWorld(r)
		for range *statements {
			s := NewStatement(r, w)
			if !reads(t, w, s.Text) {
				continue
			}
			rows, fields, failed := run(w, s.Text)
			o := local.Options{Joiners: 1 + r.IntN(3), Aggregators: 1 + r.IntN(3), Seed: r.Uint64(), ChunkBytes: 1 + r.IntN(2000)}
			p := planned(w, s.Text)
			sizes(r, w, p)
			got, passes, err := corpus.InPasses(p, w.Files, o)
			if passes > 1 {
				several++
			}
			if errors.Is(failed, operators.ErrMemory) {
				continue // a node has more
			}
			if failed != nil && err == nil && hides(failed) {
				hidden++
				again := o
				again.Joiners, again.Aggregators, again.ChunkBytes = 4-o.Joiners, 4-o.Aggregators, 2001-o.ChunkBytes
				if other, _, err := corpus.InPasses(p, w.Files, again); err != nil || fmt.Sprintf("%q", other) != fmt.Sprintf("%q", got) {
					t.Errorf("-seed %d -worlds 4: %s\n%+v: %s\n%+v: %s, %v", *seed+i, s.Text, o, clip(fmt.Sprintf("%q", got)), again,
						clip(fmt.Sprintf("%q", other)), err)
					differences++
				}
			} else if failed != nil || err != nil {
				if (failed != nil) != (err != nil) {
					t.Errorf("-seed %d -worlds 4: %s\n%+v: %v; in one process %v", *seed+i, s.Text, o, err, failed)
					differences++
				}
				failures++
			} else if a, b := fmt.Sprintf("%q", got), fmt.Sprintf("%q", corpus.Emitted(rows, fields)); a != b {
				t.Errorf("-seed %d -worlds 4: %s\n%+v: %s; in one process %s", *seed+i, s.Text, o, clip(a), clip(b))
				differences++
			}
			if differences > 10 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d of %d statements took several passes, %d failed, and %d in one process alone", several, *worlds/4**statements, failures, hidden)
	if hidden > 1+*worlds/4**statements/100 || failures > *worlds/4**statements/4 || several < *worlds/4**statements/100 {
		t.Errorf("%d statements fail, %d take several passes", failures, several)
	}
}

// hides reports whether nodes may leave out the failure of one process. They compute conditions earlier, and compute no row of a small
// table if there is no row that could be its partner. See docs/sql.md.
func hides(failed error) bool {
	e := (*values.Error)(nil)
	return errors.As(failed, &e)
}

// Statements that share a scan give the answers that each gives alone.
func TestQ3_SharedScansDoNotChangeAnswers(t *testing.T) {
	shared, apart, several, differences := 0, 0, 0, 0
	for i := range uint64(*worlds / 4) {
		r := rand.New(rand.NewPCG(*seed+i, 11))
		w := NewWorld(r)
		for range max(1, *statements/3) {
			var texts []string
			var want []string
			for len(texts) < 2+r.IntN(3) {
				s := NewStatement(r, w)
				rows, fields, err := run(w, s.Text)
				if err != nil || !reads(t, w, s.Text) {
					continue // the session fails if any of its statements fails
				}
				texts, want = append(texts, s.Text), append(want, fmt.Sprintf("%q", corpus.Emitted(rows, fields)))
			}
			p := planned(w, strings.Join(texts, ";\n"))
			sizes(r, w, p)
			for i := range texts[1:] {
				p.Also = append(p.Also, split.Part{Statement: i + 1})
			}
			o := local.Options{Joiners: 1 + r.IntN(3), Aggregators: 1 + r.IntN(3), Seed: r.Uint64(), ChunkBytes: 1 + r.IntN(2000)}
			answers, count, err := inRounds(w, p, o)
			if count > 1 {
				several++
			}
			if errors.Is(err, split.ErrApart) {
				apart++
				continue
			}
			shared++
			for k := range texts {
				got := ""
				if err == nil {
					got = fmt.Sprintf("%q", answers[k])
				}
				if got != want[k] {
					t.Errorf("-seed %d -worlds 4: %s\n%+v: statement %d, %s: %v, %s; alone %s", *seed+i, p.Text, o, k, texts[k], err, clip(got),
						clip(want[k]))
					differences++
				}
			}
			if differences > 10 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d scripts shared their scan, %d in several rounds, %d did not", shared, several, apart)
	if shared < apart/10 {
		t.Errorf("only %d of %d scripts share their scan", shared, shared+apart)
	}
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 600)], "") }
