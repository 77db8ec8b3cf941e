package bench

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Measure is one figure of one round.
type Measure struct {
	Name  string
	Unit  string
	Value float64
}

// Figure is a measure over all rounds.
type Figure struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Values []float64 `json:"values"`
}

func (f *Figure) add(v float64) {
	f.Values = append(f.Values, v)
	sorted := slices.Sorted(slices.Values(f.Values))
	n := len(sorted)
	f.Min, f.Max = sorted[0], sorted[n-1]
	f.Median = (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Case is a line of the table.
type Case struct {
	Name    string   `json:"name"`
	About   string   `json:"about,omitempty"`
	Figures []Figure `json:"figures"`
}

func (c *Case) add(measures []Measure) {
	for _, m := range measures {
		i := slices.IndexFunc(c.Figures, func(f Figure) bool { return f.Name == m.Name })
		if i < 0 {
			i = len(c.Figures)
			c.Figures = append(c.Figures, Figure{Name: m.Name, Unit: m.Unit})
		}
		c.Figures[i].add(m.Value)
	}
}

// Section is the result of one section.
type Section struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Cases []Case `json:"cases"`

	Skipped []Skip `json:"skipped,omitempty"`
}

// rounds yields each round's number and whether it counts: round 0 warms up, unless the bench is cold.
func (c *Config) rounds() iter.Seq2[int, bool] {
	return func(yield func(int, bool) bool) {
		for i := range 1 + c.Rounds {
			if counts := i > 0; (counts || !c.Cold) && !yield(i, counts) {
				return
			}
		}
	}
}

// repeat measures a case, round by round.
func repeat(ctx context.Context, name string, rounds iter.Seq2[int, bool],
	round func(ctx context.Context, i int) ([]Measure, error)) (Case, error) {
	c := Case{Name: name}
	for i, counts := range rounds {
		measures, err := round(ctx, i)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return c, fmt.Errorf("%s, round %d: %w", name, i, err)
		}
		if counts {
			c.add(measures)
		}
	}
	return c, nil
}

// compareTimes measures ours and theirs, in every other round theirs first. Otherwise the same one would always find a warmer
// cache, or a disk that is still busy with the other's data.
func compareTimes(round int, ours, theirs func() (time.Duration, error)) (a, b time.Duration, err error) {
	if round%2 == 1 {
		b, a, err = compareTimes(0, theirs, ours)
		return a, b, err
	}
	if a, err = ours(); err == nil {
		b, err = theirs()
	}
	return a, b, err
}

// withCPU sets spent to the CPU time of this process while f runs.
func withCPU(spent *time.Duration, f func() (time.Duration, error)) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		before := cpuTime()
		took, err := f()
		*spent = cpuTime() - before
		return took, err
	}
}
