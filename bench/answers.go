package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/topology"
)

const answersAbout = "answers of several sizes on the cluster of posta run: what its largest process keeps, by node; the client has the " +
	"whole answer, and is not a process of the cluster"

// answerParts are the sizes of the data of an analysis, as parts of what it has by default. More facts give a longer answer, or as long a
// one.
var answerParts = []int{8, 2, 1}

// measureAnswers measures whether a process of a cluster keeps a long answer in memory.
func measureAnswers(ctx context.Context, c *Config) (cases []Case, err error) {
	for _, s := range workloads() {
		for _, part := range answerParts {
			facts := max(1, c.factsOr(s.facts)/part)
			data, _, err := s.dataIn(c.Dir, facts)
			if err != nil {
				return cases, err
			}
			own := topology.Variant{JoinInInput: true, Settings: map[string]string{"limits.window": "8MiB"}, Roots: []string{data}}
			x := contestant{name: fmt.Sprintf("%s, %d rows", s.name(), facts), cluster: &own, inPlace: true}
			more, err := inTurns(ctx, c, []contestant{x}, func(ctx context.Context, x *contestant) ([]Measure, error) {
				return x.kept(ctx, c, &s, data)
			}, func(of [][]Measure) ([][]Measure, error) { return of, nil })
			if cases = append(cases, more...); err != nil {
				return cases, err
			}
		}
	}
	return cases, nil
}

// kept runs one session and returns the size of its answer and the peak of each kind of node.
func (x *contestant) kept(ctx context.Context, c *Config, s *workload, data string) ([]Measure, error) {
	o, n, err := x.runAnalysis(ctx, c, "answers-"+s.name(), s, data)
	if err != nil {
		return nil, err
	}
	var stages []Measure
	largest := 0.0
	for _, m := range n.nodes {
		stage, _, _ := strings.Cut(string(m.id), "-")
		at := slices.IndexFunc(stages, func(m Measure) bool { return m.Name == stage })
		if at < 0 {
			at = len(stages)
			stages = append(stages, Measure{stage, "MB", 0})
		}
		peak := float64(m.usage.peak()) / 1e6
		stages[at].Value, largest = max(stages[at].Value, peak), max(largest, peak)
	}
	return append([]Measure{{"answer", "MB", float64(len(o.Answer)) / 1e6}, {"largest process", "MB", largest}}, stages...), nil
}
