package main

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/bench/compare"
	"posta.dev/posta/bench/sanitize"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/test/oracle/bikesoracle"
	"posta.dev/posta/test/oracle/flightsoracle"
	"posta.dev/posta/test/oracle/memesoracle"
	"posta.dev/posta/test/oracle/moviesoracle"
)

var subjects = []struct {
	name     string
	oracle   func(string, map[string]string) (*answer.Answer, error)
	generate func(gen.Dir, int, uint64) error
}{
	{"bikes", bikesoracle.Run, gen.Bikes},
	{"flights", flightsoracle.Run, gen.Flights},
	{"movies", moviesoracle.Run, gen.Movies},
	{"memes", memesoracle.Run, gen.Memes},
}

// TestAnswer_AreTheOraclesOnGeneratedData: the answers are equal to the last byte.
func TestAnswer_AreTheOraclesOnGeneratedData(t *testing.T) {
	for _, s := range subjects {
		for _, x := range []struct {
			rows int
			seed uint64
		}{{0, 1}, {100, 1}, {30_000, 2}, {100_000, 3}} {
			raw, dir := t.TempDir(), t.TempDir()
			if err := s.generate(gen.OnDisk(raw), x.rows, x.seed); err != nil {
				t.Fatal(err)
			}
			if _, err := sanitize.Dir(raw, dir); err != nil {
				t.Fatal(err)
			}
			want, err := s.oracle(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, cost, err := Answer(context.Background(), s.name, dir, 2, io.Discard)
			if err != nil {
				t.Errorf("%s, %d rows: %v", s.name, x.rows, err)
				continue
			}
			if cost.Wall <= 0 || cost.CPU <= 0 || cost.Peak <= 0 || cost.Version == "" {
				t.Errorf("%s: costs %+v", s.name, cost)
			}
			if err := compare.Queries(got.Queries, want.Queries); err != nil {
				t.Errorf("%s, %d rows: %v", s.name, x.rows, err)
			}
		}
	}
}

// TestAnswer_Samples compares with an independent engine's answers on real rows, if these are available.
func TestAnswer_Samples(t *testing.T) {
	shared := os.Getenv("POSTA_SHARED")
	for _, s := range subjects {
		if shared == "" {
			break // the test on generated data covers it
		}
		got, _, err := Answer(context.Background(), s.name, filepath.Join(shared, "samples", s.name), 2, io.Discard)
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		p, err := os.ReadFile(filepath.Join(shared, "expected", s.name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]struct{ Rows [][]any }
		if err := json.Unmarshal(p, &want); err != nil {
			t.Fatal(err)
		}
		for _, q := range got.Queries {
			w := want[q.Name].Rows
			if len(w) != len(q.Rows) {
				t.Errorf("%s: %s has %d rows, want %d", s.name, q.Name, len(q.Rows), len(w))
				continue
			}
			for i := range w {
				for j := range w[i] {
					if !close(q.Rows[i][j], w[i][j]) {
						t.Errorf("%s: %s row %d: %v, want %v", s.name, q.Name, i, q.Rows[i], w[i])
					}
				}
			}
		}
	}
}

func close(got, want any) bool {
	w, ok := want.(float64)
	switch v := got.(type) {
	case int64:
		return ok && float64(v) == w
	case float64:
		return ok && math.Abs(v-w) <= 1e-9*math.Abs(w)
	}
	return got == want
}
