package bench

import (
	"fmt"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/flights"
	"posta.dev/posta/analyses/memes"
	"posta.dev/posta/analyses/movies"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/internal/gen"
)

// workload is an analysis that is measured end to end, with its data. Its answers are compared with the oracle's.
type workload struct {
	analysis *analyses.Analysis
	generate func(dir gen.Dir, facts int, seed uint64) error
	facts    int    // by default
	inRace   int    // facts of a race by default: about 750 MB of CSV
	what     string // what a fact is
}

// workloads returns one per section. By default they have so many facts that a run's start and end hardly matter. With these,
// no process of the cluster may take more than 250 MB.
func workloads() []workload {
	return []workload{
		{bikes.New(), gen.Bikes, 5_000_000, 12_000_000, "trips"},
		{flights.New(), gen.Flights, 2_000_000, 2_000_000, "itineraries"},
		{movies.New(), gen.Movies, 2_000_000, 11_500_000, "ratings"},
		{memes.New(), gen.Memes, 4_000_000, 4_000_000, "comments"},
	}
}

func (s *workload) name() string { return s.analysis.Name }

// known returns the analyses that nodes of a measured cluster can run: all, as in the product.
func known() (set analyses.Set) {
	for _, s := range workloads() {
		set = append(set, s.analysis)
	}
	return append(set, split.New())
}

func workloadOf(name string) (*workload, error) {
	all := workloads()
	i := slices.IndexFunc(all, func(s workload) bool { return s.name() == name })
	if i < 0 {
		return nil, fmt.Errorf("bench: analysis %q has no data here", name)
	}
	return &all[i], nil
}

// factsOr returns the number of facts that the user wants, or a default.
func (c *Config) factsOr(def int) int {
	if c.Rows > 0 {
		return c.Rows
	}
	return def
}
