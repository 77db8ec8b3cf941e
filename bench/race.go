package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/bench/compare"
)

// race lets all contestants answer the analysis over the same data, one after the other, round by round. In each round
// another one begins. A wrong answer ends the race with an error.
func (s *workload) race(ctx context.Context, c *Config) (done Section, err error) {
	field, skipped, err := c.participants(ctx, func(*contestant) bool { return true })
	if err != nil {
		return done, err
	}
	facts := c.factsOr(s.inRace)
	data, size, err := s.sanitizedData(c.Dir, facts)
	if err == nil {
		data, err = filepath.Abs(data)
	}
	if err != nil {
		return done, err
	}
	for i := range field {
		if field[i].inPlace {
			field[i].cluster.Roots = []string{data}
		}
	}
	done.About = fmt.Sprintf("%d %s, %d MB of CSV; times of a contestant over those of %s in the same round", facts, s.what, size/1e6,
		baseline)
	done.Skipped = skipped
	done.Cases, err = inTurns(ctx, c, field, func(ctx context.Context, x *contestant) (e result, err error) {
		if err = warm(data); err == nil {
			e, err = x.run(ctx, c, s, data)
		}
		return e, err
	}, func(entries []result) (all [][]Measure, err error) {
		for i := range entries {
			all = append(all, entries[i].measures(&entries[0], facts, size))
		}
		return all, s.checkAnswers(field, entries)
	})
	return done, err
}

func (e *result) measures(ours *result, facts int, size int64) []Measure {
	const mb = 1e6
	return []Measure{
		{"wall", "s", e.wall.Seconds()},
		{"times", "×", e.wall.Seconds() / ours.wall.Seconds()},
		{"facts", "M/s", float64(facts) / 1e6 / e.wall.Seconds()},
		{"CSV", "MB/s", rate(size, e.wall)},
		{"CPU", "s", e.cpu.Seconds()},
		{"CPU times", "×", e.cpu.Seconds() / ours.cpu.Seconds()},
		{"memory", "MB", float64(e.sum) / mb},
		{"largest process", "MB", float64(e.peak) / mb},
		{"written", "MB", float64(e.written) / mb},
	}
}

// checkAnswers compares all answers with the oracle's. Answers of Posta's own writer are compared byte by byte, including
// rejected rows. Answers of contestants that do not report rejected rows are compared query by query.
func (s *workload) checkAnswers(field []contestant, entries []result) error {
	want := entries[len(entries)-1] // the reference is the last contestant
	for i := range entries {
		if bytes.Equal(entries[i].answer, want.answer) {
			continue
		}
		if field[i].cluster != nil {
			return fmt.Errorf("%s: %w", field[i].name, errAnswers)
		}
		got, err := s.queries(entries[i].answer)
		if err != nil {
			return fmt.Errorf("%s: %w", field[i].name, err)
		}
		right, err := s.queries(want.answer)
		if err != nil {
			return err
		}
		if err := compare.Queries(got, right); err != nil {
			return fmt.Errorf("%s: %w", field[i].name, err)
		}
	}
	return nil
}

// errAnswers reports a contestant whose answers differ from the oracle's. It ends the race.
var errAnswers = errors.New("its answers are not the oracle's")

// queries decodes the queries of an answer's JSON, in the order of the analysis.
func (s *workload) queries(text json.RawMessage) ([]answer.Query, error) {
	var parts struct {
		Queries map[string]struct {
			Columns []string
			Rows    [][]any
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&parts); err != nil {
		return nil, err
	}
	var all []answer.Query
	for _, spec := range s.analysis.Queries {
		q, ok := parts.Queries[spec.Name]
		if !ok {
			return nil, fmt.Errorf("query %s was not answered", spec.Name)
		}
		for _, row := range q.Rows {
			for i, v := range row {
				n, ok := v.(json.Number)
				if !ok {
					continue
				}
				var err error
				if strings.ContainsAny(n.String(), ".eE") {
					row[i], err = n.Float64()
				} else {
					row[i], err = n.Int64()
				}
				if err != nil {
					return nil, fmt.Errorf("query %s: %w", spec.Name, err)
				}
			}
		}
		all = append(all, answer.Query{Name: spec.Name, Columns: q.Columns, Rows: q.Rows})
	}
	return all, nil
}
