package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"posta.dev/posta/client"
	"posta.dev/posta/topology"
)

// grid lists what an answer must not depend on (D1).
var grid = []struct {
	name        string
	short, full []int
}{
	{"input", []int{1, 2, 4}, []int{1, 2, 3, 4}},
	{"parser", []int{0, 1, 3}, []int{0, 1, 2, 3, 4}}, // 0: in the chain of the input
	{"joiner", []int{1, 2, 4}, []int{1, 2, 3, 4}},
	{"aggregator", []int{1, 3, 4}, []int{1, 2, 3, 4}},
	{"reducer", []int{1, 2, 4}, []int{1, 2, 3, 4}},
	{"output", []int{1, 2}, []int{1, 2, 3, 4}},
	{"lanes", []int{1, 3, 8}, []int{1, 2, 3, 4, 5, 6, 7, 8}},
	{"chunk", []int{977, 65537, 0}, []int{613, 4099, 65537, 1 << 20, 0}}, // 0: what the cluster asks for
}

// TestD1_SamplesOnAnyTopology runs every analysis on real data if there is some, otherwise on generated data. The answers equal the
// expected ones for any replicas, lanes and chunks. bikes goes through all rows of the grid, and the others through every other row in
// turn.
func TestD1_SamplesOnAnyTopology(t *testing.T) {
	names := []string{"bikes", "flights", "movies", "memes"}
	all, few := make([]sample, len(names)), make([]sample, len(names))
	for i, name := range names {
		all[i], few[i] = samples(t, name), fewRows(t, name)
	}
	factors := make([][]int, len(grid))
	for i, f := range grid {
		factors[i] = f.short
		if *long {
			factors[i] = f.full
		}
	}
	rows := pairwise(factors)
	if !*long {
		rows = rows[:min(len(rows), 5)] // the first rows cover most pairs
	}
	for turn, row := range rows {
		v := topology.Variant{Replicas: map[string]int{}}
		for i, f := range grid[:6] {
			if f.name != "parser" || row[i] > 0 {
				v.Replicas[f.name] = row[i]
			}
		}
		v.SplitParsers = row[1] > 0
		t.Run(fmt.Sprintf("%v parsers %d lanes %d chunk %d", v.Replicas, row[1], row[6], row[7]), func(t *testing.T) {
			beside(t)
			c := start(t, v)
			data := all
			if row[7] > 0 && row[7] < smallChunk {
				data = few
			}
			for _, s := range []sample{data[0], data[1+turn%3]} {
				s.check(t, c.analyse(deadline(t), s.dir, func(cfg *client.Config) {
					cfg.Analysis, cfg.Lanes, cfg.Chunk = s.analysis, row[6], row[7]
				}))
			}
			c.noUnexpectedExits()
		})
	}
}

// sample is data with the comparison of its answers.
type sample struct {
	analysis, dir string
	check         func(*testing.T, []byte)
}

// smallChunk is the smallest chunk size for large data, because each chunk waits for a disk. Smaller chunks are used with few rows, in
// which every query still has answers: a thousand chunks show the same as twenty thousand.
const smallChunk = 4 << 10

func fewRows(t *testing.T, analysis string) sample {
	t.Helper()
	d := generatedFor(t, analysis, map[string]int{"bikes": 2000, "flights": 1000, "movies": 1000, "memes": 4000}[analysis])
	for name, q := range queriesOf(t, d.want) {
		if len(q.Rows) == 0 {
			t.Errorf("the few rows of %s have no answer to query %s", analysis, name)
		}
	}
	return sample{analysis, d.dir, d.check}
}

func queriesOf(t *testing.T, answer []byte) (all map[string]struct{ Rows [][]any }) {
	t.Helper()
	text, _, _ := bytes.Cut(answer, []byte("\n"))
	if err := json.Unmarshal(text, &all); err != nil || len(all) == 0 {
		t.Fatalf("%d queries, %v: %.200s", len(all), err, answer)
	}
	return all
}

func samples(t *testing.T, analysis string) sample {
	real, ok := shared("samples/" + analysis)
	expected, also := shared("expected/" + analysis + ".json")
	if !ok || !also {
		d := generatedFor(t, analysis, 20_000)
		return sample{analysis, d.dir, d.check}
	}
	b, err := os.ReadFile(expected)
	if err != nil {
		t.Fatal(err)
	}
	want := number(t, b)
	if q, ok := want.(map[string]any)["queries"]; ok {
		want = q
	}
	return sample{analysis, real, func(t *testing.T, got []byte) {
		t.Helper()
		if got == nil {
			return
		}
		if at := differ("", want, number(t, got)); at != "" {
			t.Errorf("%s: not the expected answer: %.300s", analysis, at)
		}
	}}
}

// TestD1_OneRowChunks sends every row in a chunk of its own, so that every batch in every node has one row.
func TestD1_OneRowChunks(t *testing.T) {
	d := thinned(t)
	for _, v := range []topology.Variant{{}, {SplitParsers: true, Replicas: map[string]int{"input": 2, "joiner": 3}}} {
		c := start(t, v)
		d.check(t, c.analyse(deadline(t), d.dir, func(cfg *client.Config) { cfg.Lanes, cfg.Chunk = 8, 1 }))
		c.noUnexpectedExits()
	}
}
