package movies_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"posta/analyses/answer"
	"posta/analyses/local"
	"posta/analyses/movies"
	"posta/analyses/movies/moviesoracle"
	"posta/gen"
)

func generated(t testing.TB, rows int, seed uint64) string {
	t.Helper()
	dir := t.TempDir()
	if err := gen.Movies(gen.OnDisk(dir), rows, seed); err != nil {
		t.Fatal(err)
	}
	return dir
}

// text is an answer as JSON, without the name of the session.
func text(t *testing.T, a *answer.Answer) string {
	t.Helper()
	a.Session = ""
	p, err := a.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(p)
}

func same(t *testing.T, what string, got, want *answer.Answer) {
	t.Helper()
	g, w := text(t, got), text(t, want)
	if g == w {
		return
	}
	at := 0
	for at < len(g) && at < len(w) && g[at] == w[at] {
		at++
	}
	from := max(0, at-200)
	t.Fatalf("%s: answers differ:\n%s\n---- want\n%s", what, g[from:min(len(g), at+200)], w[from:min(len(w), at+200)])
}

func oracle(t *testing.T, dir string, params map[string]string) *answer.Answer {
	t.Helper()
	a, err := moviesoracle.Run(dir, params)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func run(t *testing.T, dir string, o local.Options) *answer.Answer {
	t.Helper()
	a, err := local.Run(movies.New(), os.DirFS(dir), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestD1_AnswersAreTheOraclesWhateverTheInterleaving(t *testing.T) {
	for data := uint64(1); data <= 2; data++ {
		dir := generated(t, 10000, data)
		want := oracle(t, dir, nil)
		for _, q := range want.Queries {
			if len(q.Rows) < 2 {
				t.Errorf("data %d: query %s has %d rows, which proves little", data, q.Name, len(q.Rows))
			}
		}
		for _, r := range want.Rejected {
			if r.Rows < 5 {
				t.Errorf("data %d: stream %s has %d rejected rows, which proves little", data, r.Stream, r.Rows)
			}
		}
		same(t, "in order", run(t, dir, local.Options{}), want)
		for seed := uint64(1); seed <= 3; seed++ {
			r := rand.New(rand.NewPCG(data, seed))
			o := local.Options{Seed: seed, Joiners: 1 + r.IntN(4), Aggregators: 1 + r.IntN(4), ChunkBytes: 1 << (11 + r.IntN(6))}
			same(t, fmt.Sprintf("data %d, %+v", data, o), run(t, dir, o), want)
		}
	}
}

func TestD1_ChunksOfOneRowAreTheSameAsLargeOnes(t *testing.T) {
	dir := generated(t, 200, 7)
	want := oracle(t, dir, nil)
	for seed := uint64(1); seed <= 2; seed++ {
		o := local.Options{Seed: seed, Joiners: 3, Aggregators: 2, ChunkBytes: 64}
		same(t, fmt.Sprintf("%+v", o), run(t, dir, o), want)
	}
}

func TestParametersMeanTheSameToTheOracle(t *testing.T) {
	dir := generated(t, 2000, 9)
	for _, params := range []map[string]string{
		{"country": "Spain", "partner": "Argentina", "top_countries": "1", "top_actors": "1"},
		{"country": "Lao People's Democratic Republic", "partner": "Argentina", "top_actors": "100000"},
		{"country": "Côte d'Ivoire", "partner": "Côte d'Ivoire", "top_countries": "100000"},
		{"country": "Nowhere", "partner": "Spain"},
		{"country": "France", "partner": "Nowhere", "top_countries": "+3", "top_actors": "007"},
	} {
		o := local.Options{Params: params, Seed: 5, Joiners: 2, Aggregators: 3, ChunkBytes: 1 << 15}
		same(t, fmt.Sprint(params), run(t, dir, o), oracle(t, dir, params))
	}
}

// TestSamples compares with an independent engine's answers on real rows where they are at hand, and with the oracle on
// generated rows anywhere.
func TestSamples(t *testing.T) {
	shared := os.Getenv("POSTA_SHARED")
	if shared == "" {
		dir := generated(t, 10000, 4)
		same(t, "generated", run(t, dir, local.Options{Joiners: 2}), oracle(t, dir, nil))
		return
	}
	dir := filepath.Join(shared, "samples", "movies")
	got := run(t, dir, local.Options{Seed: 1, Joiners: 2, Aggregators: 2, ChunkBytes: 1 << 14})
	same(t, "samples", got, oracle(t, dir, nil))
	p, err := os.ReadFile(filepath.Join(shared, "expected", "movies.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]struct{ Rows [][]any }
	if err := json.Unmarshal(p, &want); err != nil {
		t.Fatal(err)
	}
	for _, q := range got.Queries {
		if len(q.Rows) != len(want[q.Name].Rows) {
			t.Fatalf("%s has %d rows, want %d", q.Name, len(q.Rows), len(want[q.Name].Rows))
		}
		for i, row := range q.Rows {
			for j, v := range row {
				if w := want[q.Name].Rows[i][j]; !alike(v, w) {
					t.Errorf("%s row %d: %v, want %v", q.Name, i, v, w)
				}
			}
		}
	}
}

func alike(got, want any) bool {
	w, ok := want.(float64)
	switch v := got.(type) {
	case int64:
		return ok && float64(v) == w
	case float64:
		return ok && math.Abs(v-w) <= 1e-9*math.Abs(w)
	}
	return got == want
}
