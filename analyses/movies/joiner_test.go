package movies

import (
	"errors"
	"fmt"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/analysistest"
)

func TestAnalysisFitsTogether(t *testing.T) {
	if err := New().Check(); err != nil {
		t.Fatal(err)
	}
}

// TestQueriesAreAnsweredWhenTheirStreamHasEnded: queries about the movies alone do not wait for ratings or credits.
func TestQueriesAreAnsweredWhenTheirStreamHasEnded(t *testing.T) {
	a := New()
	want := map[string]string{"coproductions": "movies", "budgets": "movies", "sentiment": "movies", "ratings": "ratings", "actors": "credits"}
	for _, q := range a.Queries {
		for _, table := range q.Tables {
			if got := a.Tables[a.TableIndex(table)].Stream; got != want[q.Name] {
				t.Errorf("%s waits for %s, want %s", q.Name, got, want[q.Name])
			}
		}
	}
}

var here = analyses.Position{File: analyses.File{Name: "x.csv"}, Line: 2}

// rowOf parses one row into a batch.
func rowOf(t testing.TB, stream int, fields ...string) *batch.Batch {
	t.Helper()
	return analysistest.Decode(t, New(), stream, frameOf(t, stream, fields...))
}

func frameOf(t testing.TB, stream int, fields ...string) []byte {
	t.Helper()
	return analysistest.Frame(t, New(), stream, analyses.File{}, fields)
}

func argentine(t testing.TB, id int) *batch.Batch {
	return rowOf(t, movies, fmt.Sprint(id), "2005-05-05", "10", "20", fmt.Sprint("T", id), "a great hero", "[]", "[{'name': 'Argentina'}]")
}

func joinerOf(t testing.TB, replica analyses.Replica) (analyses.Joiner, []*fold.Table) {
	t.Helper()
	s := analysistest.NewSession(t, New(), replica)
	return s.Joiner, s.Tables
}

func ok(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestMoviesAreCountedByTheFirstJoiner(t *testing.T) {
	for of := 1; of <= 3; of++ {
		for index := range of {
			j, tables := joinerOf(t, analyses.Replica{Index: index, Of: of})
			for id := range 100 {
				ok(t, j.Reference(movies, argentine(t, id-50), here))
			}
			ok(t, j.End(movies), j.Flush(tables))
			n := int64(0)
			if tables[sentiment].Len() > 0 {
				n = tables[sentiment].Sum(0, 1)
			}
			if index == 0 && n != 100 || index > 0 && n != 0 {
				t.Errorf("joiner %d of %d counts %d movies of 100", index, of, n)
			}
		}
	}
}

func TestFlushForgets(t *testing.T) {
	j, tables := joinerOf(t, analyses.Replica{Of: 1})
	ok(t, j.Reference(movies, argentine(t, 7), here), j.End(movies))
	for range 3 {
		ok(t, j.Facts(ratings, rowOf(t, ratings, "7", "4.5"), here))
		ok(t, j.Facts(ratings, rowOf(t, ratings, "8", "1"), here))
		ok(t, j.Facts(credits, rowOf(t, credits, "[{'name': 'A', 'id': 1}]", "7"), here))
		ok(t, j.Flush(tables))
	}
	ok(t, j.Flush(tables), j.End(ratings), j.End(credits))
	if got := [...]int64{tables[rated].Sum(0, 2), tables[sentiment].Sum(0, 1), int64(tables[actors].Len()),
		int64(tables[rated].Len())}; got != [...]int64{3, 1, 1, 1} {
		t.Errorf("%v", got)
	}
	if v := tables[budgets].Exact(0, 0).Value(); v != 10 {
		t.Errorf("budget %v", v)
	}
}

// TestOrderOfCallsIsHeld: an engine that confuses streams or their ends gets an error, not a wrong answer.
func TestOrderOfCallsIsHeld(t *testing.T) {
	j, tables := joinerOf(t, analyses.Replica{Of: 1})
	rating, film := rowOf(t, ratings, "7", "4.5"), argentine(t, 7)
	for what, err := range map[string]error{
		"facts as reference": j.Reference(ratings, rating, here),
		"reference as facts": j.Facts(movies, film, here),
		"facts too early":    j.Facts(ratings, rating, here),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	ok(t, j.End(movies))
	for what, err := range map[string]error{
		"reference too late": j.Reference(movies, film, here),
		"two ends":           j.End(movies),
		"unknown query":      reduce(defaults(t), 9, tables[:1], func(...any) {}),
		"no settings":        reduce(nil, 0, tables[:1], func(...any) {}),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if _, err := newParser(nil, 7, analyses.File{}, nil); err == nil {
		t.Error("stream 7 has a parser")
	}
}

func defaults(t testing.TB) analyses.Args {
	t.Helper()
	args, err := New().Args(nil)
	if err != nil {
		t.Fatal(err)
	}
	return args
}

func TestForgedBatchesAreErrors(t *testing.T) {
	schema := New().Streams[credits].Schema
	for _, packed := range []string{"\x80", "\x02", "\x02\x05abc", "\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x02\x01a\x02"} {
		j, tables := joinerOf(t, analyses.Replica{Of: 1})
		ok(t, j.Reference(movies, argentine(t, 7), here), j.End(movies))
		b := batch.NewBuilder(schema)
		b.Int(creditMovie).Append(7)
		b.Text(creditCast).Append([]byte(packed))
		d, err := batch.Decode(b.Append(nil), schema)
		ok(t, err)
		if err := errors.Join(j.Facts(credits, d, here), j.Flush(tables)); !errors.Is(err, errPacked) {
			t.Errorf("%q: %v", packed, err)
		}
	}
	j, _ := joinerOf(t, analyses.Replica{Of: 1})
	ok(t, j.Reference(movies, argentine(t, 7), here), j.End(movies))
	b := batch.NewBuilder(New().Streams[ratings].Schema)
	b.Int(ratingMovie).Append(7)
	b.Dict(ratingValue).Append([]byte("NaN"))
	d, err := batch.Decode(b.Append(nil), New().Streams[ratings].Schema)
	ok(t, err)
	if err := j.Facts(ratings, d, here); err == nil {
		t.Error("a rating that is not a number is counted")
	}
}

func TestRowsAreOrderedByFileLineAndRow(t *testing.T) {
	at := func(file string, line uint64) analyses.Position {
		return analyses.Position{File: analyses.File{Name: file}, Line: line}
	}
	type place struct {
		pos analyses.Position
		row int32
	}
	inOrder := []place{{at("a", 2), 0}, {at("a", 2), 1}, {at("a", 10), 0}, {at("b", 1), 0}, {at("b", 1), 7}, {at("b", 2), 0}}
	for i := range inOrder {
		for k := range inOrder {
			p, q := &inOrder[i], &inOrder[k]
			if before(&p.pos, p.row, &q.pos, q.row) != (i < k) {
				t.Errorf("%v before %v", p, q)
			}
		}
	}
}

func TestParsersAllocateNothingPerRow(t *testing.T) {
	for stream, fields := range [][]string{
		{"7", "2005-05-05", "10", "20", "T", "A great hero, but no good", "[{'id': 1, 'name': \"D'Arcy\"}]", `[{'name': 'C\xf4te'}]`},
		{"7", "4.5"},
		{"[{'id': 1, 'name': 'A'}, {'id': 2, 'name': 'B\\''}]", "7"},
	} {
		b := batch.NewBuilder(New().Streams[stream].Schema)
		row, err := newParser(nil, stream, analyses.File{}, b)
		ok(t, err)
		var p [][]byte
		for _, s := range fields {
			p = append(p, []byte(s))
		}
		for range 100 {
			ok(t, row(p))
		}
		if n := testing.AllocsPerRun(100, func() { b.Reset(); _ = row(p) }); n > 0 {
			t.Errorf("stream %d: %v allocations", stream, n)
		}
	}
}
