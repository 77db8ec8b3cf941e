package analysistest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/internal/gen"
)

// Subject is an analysis with the means to test it: an oracle, which answers the same queries in the obvious way, and a
// generator of data.
type Subject struct {
	New      func() *analyses.Analysis
	Oracle   func(dir string, params map[string]string) (*answer.Answer, error)
	Generate func(dir gen.Dir, rows int, seed uint64) error
	Joiners  int // for Both and TinyChunks; 0 means 2
}

// Generated returns a directory of generated data.
func (s *Subject) Generated(t testing.TB, rows int, seed uint64) string {
	t.Helper()
	dir := t.TempDir()
	if err := s.Generate(gen.OnDisk(dir), rows, seed); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Want returns the oracle's answer.
func (s *Subject) Want(t testing.TB, dir string, params map[string]string) *answer.Answer {
	t.Helper()
	a, err := s.Oracle(dir, params)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Run returns the analysis' own answer.
func (s *Subject) Run(t testing.TB, dir string, o local.Options) *answer.Answer {
	t.Helper()
	a, err := local.Run(s.New(), os.DirFS(dir), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Both runs the analysis and its oracle, with chunks of one row in several orders. It expects equal answers, and returns them.
func (s *Subject) Both(t *testing.T, dir string, params map[string]string) *answer.Answer {
	t.Helper()
	want := s.Want(t, dir, params)
	for seed := uint64(0); seed < 12; seed++ {
		got := s.Run(t, dir, local.Options{Params: params, Seed: seed, Joiners: s.joiners(), Aggregators: 2, ChunkBytes: 8})
		Same(t, fmt.Sprintf("seed %d", seed), got, want)
	}
	return want
}

func (s *Subject) joiners() int {
	if s.Joiners == 0 {
		return 2
	}
	return s.Joiners
}

// Interleavings says how much data to interleave, and how many rows the answers must have at least, because two empty answers
// would prove nothing.
type Interleavings struct {
	Rows     int    // how many rows are generated
	Chunks   [2]int // the smallest and the largest, as powers of two
	Answers  []int  // least rows of each query
	Rejected uint64 // least rejected rows of each stream
}

// Interleavings runs the analysis in order and in random interleavings, and expects the oracle's answer each time (D1).
func (s *Subject) Interleavings(t *testing.T, x Interleavings) {
	t.Helper()
	for data := uint64(1); data <= 2; data++ {
		dir := s.Generated(t, x.Rows, data)
		want := s.Want(t, dir, nil)
		x.checkProves(t, data, want)
		Same(t, "in order", s.Run(t, dir, local.Options{}), want)
		for seed := uint64(1); seed <= 4; seed++ {
			r := rand.New(rand.NewPCG(data, seed))
			o := local.Options{Seed: seed, Joiners: 1 + r.IntN(4), Aggregators: 1 + r.IntN(4)}
			o.ChunkBytes = 1 << (x.Chunks[0] + r.IntN(x.Chunks[1]-x.Chunks[0]+1))
			Same(t, fmt.Sprintf("data %d, %+v", data, o), s.Run(t, dir, o), want)
		}
	}
}

func (x *Interleavings) checkProves(t *testing.T, data uint64, want *answer.Answer) {
	t.Helper()
	if len(want.Queries) != len(x.Answers) {
		t.Fatalf("there are %d queries; say of each how many rows it has at least", len(want.Queries))
	}
	for i, q := range want.Queries {
		if len(q.Rows) < x.Answers[i] {
			t.Errorf("data %d: query %s has %d rows, which proves little", data, q.Name, len(q.Rows))
		}
	}
	for _, r := range want.Rejected {
		if r.Rows < x.Rejected {
			t.Errorf("data %d: stream %s has %d rejected rows, which proves little", data, r.Stream, r.Rows)
		}
	}
}

// TinyChunks expects the oracle's answer when generated rows come in many chunks of about one row each.
func (s *Subject) TinyChunks(t *testing.T, rows int) {
	t.Helper()
	dir := s.Generated(t, rows, 7)
	want := s.Want(t, dir, nil)
	for seed := uint64(1); seed <= 2; seed++ {
		o := local.Options{Seed: seed, Joiners: s.joiners(), Aggregators: 2, ChunkBytes: 64}
		Same(t, fmt.Sprintf("%+v", o), s.Run(t, dir, o), want)
	}
}

// Params expects the oracle's answer for all sets of parameters, over generated rows in chunks of chunkBytes.
func (s *Subject) Params(t *testing.T, rows, chunkBytes int, all []map[string]string) {
	t.Helper()
	dir := s.Generated(t, rows, 9)
	for _, params := range all {
		o := local.Options{Params: params, Seed: 5, Joiners: 2, Aggregators: 3, ChunkBytes: chunkBytes}
		Same(t, fmt.Sprint(params), s.Run(t, dir, o), s.Want(t, dir, params))
	}
}
