package sqldiff

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/values"
)

var (
	seed       = flag.Uint64("seed", 1, "the first world")
	worlds     = flag.Int("worlds", 200, "how many worlds; the tests without DuckDB take a quarter of them")
	statements = flag.Int("statements", 10, "how many statements over each")
)

// run answers a statement with tail. The answer is nil if a function has no kernel yet.
func run(w *World, text string) (rows *operators.Batch, fields []plan.Field, err error) {
	script, err := syntax.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	p, err := bind.Bind(text, script, w.Tables, nil)
	if err != nil {
		return nil, nil, err
	}
	plan := p.Statements[0].Plan
	rows, err = operators.New(w.Source, 64<<20, plan).Run(plan)
	return rows, plan.Fields(), err
}

func newOracle(t *testing.T) *Oracle {
	t.Helper()
	o, err := NewOracle()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// check compares one statement, and reports whether there were answers to compare.
func check(w *World, o *Oracle, s Statement) (compared bool, err error) {
	rows, fields, failed := run(w, s.Text)
	if errors.Is(failed, eval.ErrUnsupported) || errors.Is(failed, operators.ErrMemory) {
		return false, nil
	}
	if e := (*values.Error)(nil); failed != nil && !errors.As(failed, &e) {
		return false, fmt.Errorf("refused: %w", failed)
	}
	theirRows, theirFailed := o.Query(s.Text)
	switch {
	case failed != nil && theirFailed != nil:
		return true, nil
	case failed != nil && (strings.Contains(failed.Error(), "sum does not fit")):
		return false, nil // DuckDB's sum has 128 bits
	case failed != nil:
		if o.wouldFail(s.Text) {
			return false, nil // DuckDB's optimizer removed the part that fails
		}
		if (len(theirRows) == 0 || s.Correlated) && strings.Contains(failed.Error(), "does not fit into a BIGINT") {
			return false, nil // DuckDB computes nothing if the answer is empty before, or if no row around a query needs it: see docs/sql.md
		}
		return true, fmt.Errorf("failed: %w; DuckDB answers %v", failed, theirRows)
	case theirFailed != nil:
		if strings.Contains(theirFailed.Error(), "Out of Range") || strings.Contains(theirFailed.Error(), "out of range") {
			return false, nil // DuckDB computed what was not needed, or a variance of infinities
		}
		if strings.Contains(theirFailed.Error(), "Not implemented Error") || strings.Contains(theirFailed.Error(), "INTERNAL Error") {
			return false, nil // a query in the condition of an outer join, or a bug of DuckDB
		}
		return true, fmt.Errorf("DuckDB failed: %w; here %v", theirFailed, ours(rows, fields))
	}
	if why := same(ours(rows, fields), theirs(theirRows, fields), s.Ordered, s.Near); why != "" {
		return true, errors.New(why)
	}
	return true, nil
}

func TestQ5_RandomStatementsAreAnsweredAsDuckDBDoes(t *testing.T) {
	o := newOracle(t)
	compared, differences := 0, 0
	for i := range uint64(*worlds) {
		r := rand.New(rand.NewPCG(*seed+i, 7))
		w := NewWorld(r)
		if err := o.Load(w); err != nil {
			t.Fatal(err)
		}
		for range *statements {
			s := NewStatement(r, w)
			ok, err := check(w, o, s)
			if err != nil {
				t.Errorf("-seed %d -worlds 1: %s\n%v", *seed+i, s.Text, err)
				if differences++; differences > 10 {
					t.FailNow()
				}
			}
			if ok {
				compared++
			}
		}
	}
	t.Logf("%d of %d statements were compared", compared, *worlds**statements)
	if compared < *worlds**statements/2 {
		t.Error("most statements were refused")
	}
}
