package bench

import (
	"context"
	"fmt"
)

// inTurns runs all contestants once in each round, one after the other. In each round another one begins. measure computes
// the figures of a round from all its results, because some figures compare with the first contestant. An error of measure
// ends the race.
func inTurns[T any](
	ctx context.Context, c *Config, field []contestant, run func(context.Context, *contestant) (T, error),
	measure func([]T) ([][]Measure, error),
) ([]Case, error) {
	cases := make([]Case, len(field))
	for i := range field {
		cases[i] = Case{Name: field[i].name, About: field[i].about}
	}
	for round, counts := range c.rounds() {
		results := make([]T, len(field))
		for i := range field {
			at := (i + round) % len(field)
			var err error
			if results[at], err = run(ctx, &field[at]); err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return cases, fmt.Errorf("%s, round %d: %w", field[at].name, round, err)
			}
		}
		measures, err := measure(results)
		if err != nil {
			return cases, fmt.Errorf("round %d: %w", round, err)
		}
		for i := range measures {
			if counts {
				cases[i].add(measures[i])
			}
		}
	}
	return cases, nil
}

// durableClusters measures the contestants that are durable clusters, in turns.
func (c *Config) durableClusters(ctx context.Context, done Section,
	measure func(context.Context, *contestant) ([]Measure, error)) (Section, error) {
	field, skipped, err := c.participants(ctx, func(x *contestant) bool { return x.cluster != nil && !x.volatile && !x.inPlace })
	if err != nil {
		return done, err
	}
	done.Skipped = skipped
	done.Cases, err = inTurns(ctx, c, field, measure, func(all [][]Measure) ([][]Measure, error) { return all, nil })
	return done, err
}
