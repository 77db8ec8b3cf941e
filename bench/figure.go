package bench

import (
	"context"
	"fmt"
	"iter"
	"slices"
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

// Figure returns the figure of that name, nil if there is none.
func (c *Case) Figure(name string) *Figure {
	for i := range c.Figures {
		if c.Figures[i].Name == name {
			return &c.Figures[i]
		}
	}
	return nil
}

// Section is one promise, measured.
type Section struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Cases []Case `json:"cases"`

	Skipped []Skip `json:"skipped,omitempty"`
}

// rounds are numbered, with whether they count: round 0 warms up, unless the bench is to be cold.
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
func repeat(ctx context.Context, name string, rounds iter.Seq2[int, bool], round func(ctx context.Context, i int) ([]Measure, error)) (Case, error) {
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

// inTurn calls both, the second first in every other round: who comes second must not always find the warmer cache, or the
// disk busy with what the first one left.
func inTurn(i int, a, b func() error) error {
	if i%2 == 1 {
		a, b = b, a
	}
	if err := a(); err != nil {
		return err
	}
	return b()
}
