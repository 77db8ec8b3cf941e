package bench

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"posta.dev/posta/topology"
)

const (
	growthAbout = "trips of bikes on a cluster that reads the files in place, per row, without what it takes for 1,000 rows; ratio: CPU " +
		"time over that of a million rows, and of one joiner and aggregator"
	// fewRows is the number of rows with which the cost of a cluster's start and end is measured.
	fewRows = 1000
	// growthUnit is the size with which other sizes are compared. The time of smaller ones is mostly the start of a session.
	growthUnit = 1_000_000
)

// growthRows are the sizes of the data. The largest is 6.3 GB; --rows limits it.
var growthRows = []int{100_000, 1_000_000, 10_000_000, 100_000_000}

// growthReplicas are the numbers of joiners and of aggregators that share the rows.
var growthReplicas = []int{1, 2, 4, 8, 16}

// growthMost is the largest size without --rows.
const growthMost = 10_000_000

// measureGrowth measures whether a row costs the same for any number of rows, and for any number of nodes that share them.
func measureGrowth(ctx context.Context, c *Config) ([]Case, error) {
	most := c.factsOr(growthMost)
	var sizes, shapes []growing
	unit := 0
	for _, facts := range append(slices.DeleteFunc(slices.Clone(growthRows), func(n int) bool { return n >= most }), most) {
		if facts <= growthUnit {
			unit = len(sizes)
		}
		sizes = append(sizes, growing{fmt.Sprintf("%d rows", facts), facts, nil})
	}
	for _, n := range growthReplicas {
		shapes = append(shapes, growing{fmt.Sprintf("%d joiners and aggregators", n), min(most, 2_000_000),
			map[string]int{"joiner": n, "aggregator": n}})
	}
	bySize, err := c.growth(ctx, sizes, unit)
	if err != nil {
		return nil, err
	}
	byShape, err := c.growth(ctx, shapes, 0)
	return append(bySize, byShape...), err
}

// growing is a point of a curve.
type growing struct {
	name     string
	facts    int
	replicas map[string]int // nil: those of posta run
}

// growth measures points in turns, and compares them with the one at unit. Each is also measured with few rows, and this cost is
// subtracted.
func (c *Config) growth(ctx context.Context, points []growing, unit int) ([]Case, error) {
	s, err := workloadOf("bikes")
	if err != nil {
		return nil, err
	}
	field := make([]contestant, len(points))
	data := make([]string, len(points))
	few, _, err := s.dataIn(c.Dir, fewRows)
	if err != nil {
		return nil, err
	}
	for i, p := range points {
		if data[i], _, err = s.dataIn(c.Dir, p.facts); err != nil {
			return nil, err
		}
		v := topology.Variant{Replicas: p.replicas, JoinInInput: p.replicas == nil, Roots: []string{data[i], few}}
		field[i] = contestant{name: p.name, cluster: &v, inPlace: true}
	}
	at := func(x *contestant) int {
		return slices.IndexFunc(points, func(p growing) bool { return p.name == x.name })
	}
	return inTurns(ctx, c, field, func(ctx context.Context, x *contestant) (cost growthCost, err error) {
		i := at(x)
		if err = warm(data[i]); err != nil {
			return cost, err
		}
		base, err := x.run(ctx, c, s, few)
		if err != nil {
			return cost, err
		}
		r, err := x.run(ctx, c, s, data[i])
		rows := float64(max(1, points[i].facts-fewRows))
		return growthCost{
			wall: float64((r.wall - base.wall).Nanoseconds()) / rows, cpu: float64((r.cpu - base.cpu).Nanoseconds()) / rows,
			base: base.cpu, peak: r.peak, answer: r.answer,
		}, err
	}, func(costs []growthCost) (all [][]Measure, err error) {
		for i := range costs {
			one, x := &costs[unit], &costs[i]
			if points[i].facts == points[unit].facts && !bytes.Equal(x.answer, one.answer) {
				return nil, fmt.Errorf("the answers of %s and of %s differ", points[i].name, points[unit].name)
			}
			all = append(all, []Measure{
				{"wall", "ns/row", x.wall}, {"CPU", "ns/row", x.cpu}, {"ratio", "", x.cpu / one.cpu},
				{"CPU for few rows", "s", x.base.Seconds()}, {"largest process", "MB", float64(x.peak) / 1e6},
			})
		}
		return all, nil
	})
}

// growthCost is the cost of one point, per row.
type growthCost struct {
	wall, cpu float64 // in ns
	base      time.Duration
	peak      int64
	answer    []byte
}

// dataIn returns data with an absolute path, which inputs need to read it in place.
func (s *workload) dataIn(dir string, facts int) (string, int64, error) {
	data, size, err := s.data(dir, facts)
	if err == nil {
		data, err = filepath.Abs(data)
	}
	return data, size, err
}
