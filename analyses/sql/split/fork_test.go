package split

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// forking is a joiner that has its reference streams, with the chunks of a fact stream.
type forking struct {
	a      *analyses.Analysis
	joiner *exec.Joiner
	facts  int
	chunks []*batch.Batch
	pos    []analyses.Position
}

// newForking loads all files but t.csv, which it cuts into chunks.
func newForking(t *testing.T, text string, r *rand.Rand) *forking {
	t.Helper()
	files := someTables(r)
	var more bytes.Buffer
	for i := range 4000 {
		fmt.Fprintf(&more, "%d,%d,%g,%c\n", i%7, i%30, float64(i%40)/4, "abcd"[i%4])
	}
	files["t.csv"].Data = append(files["t.csv"].Data, more.Bytes()...)
	a, err := Analysis(small(planOf(t, text, files), files))
	if err != nil {
		t.Fatal(text, err)
	}
	made, err := a.NewJoiner(nil, analyses.Replica{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	f := &forking{a: a, joiner: made.(*exec.Joiner)}
	for i := range a.Streams {
		s := &a.Streams[i]
		file := analyses.File{Name: s.Files}
		header, rows, _ := strings.Cut(string(files[s.Files].Data), "\n")
		p, err := parse.NewFile(a, i, nil, file, []byte(header))
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.Collect(strings.Lines(rows))
		for n, piece := range slices.Collect(slices.Chunk(lines, 300)) {
			pos := analyses.Position{File: file, Line: uint64(2 + 300*n)}
			if _, _, err := p.Chunk([]byte(strings.Join(piece, "")), pos.Line); err != nil {
				t.Fatal(err)
			}
			b, err := batch.Decode(p.Builder().Append(nil), s.Schema)
			if err != nil {
				t.Fatal(err)
			}
			if !s.Reference {
				f.facts, f.chunks, f.pos = i, append(f.chunks, b), append(f.pos, pos)
			} else if err := f.joiner.Reference(i, b, pos); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.joiner.End(i); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// merged returns the rows of tables as aggregators would have them.
func (f *forking) merged(t *testing.T, flush func(into []*fold.Table) error) (out []string) {
	t.Helper()
	var into []*fold.Table
	for i := range f.a.Tables {
		into = append(into, fold.NewOutgoing(&f.a.Tables[i]))
	}
	if err := flush(into); err != nil {
		t.Fatal(err)
	}
	for i := range into {
		all := fold.NewTable(&f.a.Tables[i])
		if err := all.Merge(into[i].AppendRows(nil, into[i].Rows())); err != nil {
			t.Fatal(err)
		}
		out = append(out, string(all.AppendRows(nil, all.Sorted(nil))))
	}
	return out
}

// TestQ7_ForksFoldWhatTheJoinerWould: forks of a joiner that look up the same rows and ask the same queries fold in turns what the
// joiner folds alone. TestForks_OfSQLAtTheSameTime has them fold side by side.
func TestQ7_ForksFoldWhatTheJoinerWould(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for _, text := range []string{
		"SELECT tn, count(*), sum(tx), first(tc) FROM t GROUP BY tn",
		"SELECT uc, count(*), sum(tn + un), last(tc), stddev(tx) FROM t JOIN u ON tk = uk GROUP BY uc",
		"SELECT tk, tn, un FROM t LEFT JOIN u ON tk = uk AND tc = uc AND tn < un + 3",
		"SELECT tc, count(*) FROM t WHERE tk IN (SELECT uk FROM u) AND tn > (SELECT min(vn) FROM v) AND tc NOT IN (SELECT vc FROM v WHERE vc " +
			"IS NOT NULL) GROUP BY tc",
		"SELECT uc, tk + i AS k, count(DISTINCT tn) FROM u JOIN t ON tk = uk SEMI JOIN v ON uc = vc CROSS JOIN (VALUES (1), (2), (3)) AS x(i) " +
			"WHERE i <= length(tc) + 1 GROUP BY 1, 2",
		"SELECT tc, un FROM t, u WHERE tk = uk AND tc LIKE 'a%' ORDER BY tn DESC, un LIMIT 20",
		"SELECT DISTINCT upper(tc), uk FROM t RIGHT JOIN u ON tc = uc",
	} {
		f := newForking(t, text, r)
		want := f.merged(t, func(into []*fold.Table) error {
			for i, b := range f.chunks {
				if err := f.joiner.Facts(f.facts, b, f.pos[i]); err != nil {
					return err
				}
			}
			return f.joiner.Flush(into)
		})
		if strings.Join(want, "") == "" {
			t.Errorf("%s: there are no rows to compare", text)
		}
		var forks []analyses.Joiner
		got := f.merged(t, func(into []*fold.Table) error {
			for i, b := range f.chunks {
				if i < 3 {
					fork, err := f.joiner.Fork(f.facts)
					if err != nil {
						return err
					}
					forks = append(forks, fork)
				}
				if err := forks[i%len(forks)].Facts(f.facts, b, f.pos[i]); err != nil {
					return err
				}
			}
			for _, fork := range forks {
				if err := fork.Flush(into); err != nil {
					return err
				}
			}
			return f.joiner.Flush(into)
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s: forks fold something else than the joiner", text)
		}
	}
}

// TestQ7_ForksAreBoundedTogether: the rows that forks send count for their joiner. Together they send no more than the joiner's
// share of MaxRowBytes.
func TestQ7_ForksAreBoundedTogether(t *testing.T) {
	f := newForking(t, "SELECT *, row_number() OVER () FROM t", rand.New(rand.NewPCG(7, 2)))
	var into []*fold.Table
	for i := range f.a.Tables {
		into = append(into, fold.NewOutgoing(&f.a.Tables[i]))
	}
	f.joiner.Most = 50_000
	var failed error
	for i, b := range f.chunks {
		fork, err := f.joiner.Fork(f.facts)
		if err != nil {
			t.Fatal(err)
		}
		if err := fork.Facts(f.facts, b, f.pos[i]); err != nil {
			t.Fatal(err)
		}
		if failed = fork.Flush(into); failed != nil {
			break
		}
	}
	if failed == nil || !strings.Contains(failed.Error(), "more than 50000 bytes to one process") {
		t.Errorf("%d chunks are sent without an error about their size: %v", len(f.chunks), failed)
	}
}

// TestQ7_WhatForksCannotComputeTheJoinerReports: if the small tables give no answer, no fork is made, and the joiner reports the
// reason as it does without forks.
func TestQ7_WhatForksCannotComputeTheJoinerReports(t *testing.T) {
	const text = "SELECT count(*) FROM t WHERE tn > (SELECT un FROM u)"
	f := newForking(t, text, rand.New(rand.NewPCG(7, 3)))
	plain := newForking(t, text, rand.New(rand.NewPCG(7, 3)))
	want := plain.joiner.Facts(f.facts, f.chunks[0], f.pos[0])
	fork, err := f.joiner.Fork(f.facts)
	if want == nil || err == nil || fork != nil {
		t.Fatalf("a fork %v, %v; the joiner alone says %v", fork, err, want)
	}
	if got := f.joiner.Facts(f.facts, f.chunks[0], f.pos[0]); got == nil || got.Error() != want.Error() {
		t.Errorf("after a fork the joiner says %v, alone %v", got, want)
	}
}

// TestR16_ALimitStopsTheWork: once a batch has given as many rows as a LIMIT wants, nothing more is computed of it, nor of the batches
// behind it. All values of the first batch alone take 4 GB, which is some 70 pauses.
func TestR16_ALimitStopsTheWork(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	for _, text := range []string{
		"SELECT left(x, 2), tk FROM (SELECT repeat('x', 7900000) || tk AS x, tk FROM t) WHERE length(x) > 9 LIMIT 3",
		"SELECT left(x, 2), tk, uk FROM (SELECT repeat('x', 7900000) || tk AS x, tk FROM t), u WHERE length(x) > 9 LIMIT 3 OFFSET 4",
	} {
		f, pauses := newForking(t, text, r), 0
		fork, err := f.joiner.ForkSliced(f.facts, func() { pauses++ })
		if err != nil || fork == nil {
			t.Fatalf("%s: no fork that works in slices: %v", text, err)
		}
		for i, b := range f.chunks {
			if err := fork.Facts(f.facts, b, f.pos[i]); err != nil {
				t.Fatal(text, err)
			}
		}
		if t.Logf("%d pauses", pauses); pauses > 30 {
			t.Errorf("%s: %d pauses", text, pauses)
		}
	}
}
