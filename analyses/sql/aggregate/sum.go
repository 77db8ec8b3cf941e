package aggregate

import (
	"posta.dev/posta/analyses/sql/types"
)

var sum = Aggregate{
	Function: types.Function{Name: "sum", Forms: []string{"BIGINT -> BIGINT", "DECIMAL -> SUM", "DOUBLE -> DOUBLE"}, Nulls: types.Skips,
		Over: true, Fails: "a sum that does not fit its type", Unordered: true, About: "The sum: exact, of DOUBLEs rounded once at the end."},
	New: func(c Call) State {
		if c.kind(0) == types.Double {
			return &floatSums{}
		}
		return &intSums{call: c}
	},
	Parts: "sum",
}

var avg = Aggregate{
	Function: types.Function{Name: "avg", Aliases: []string{"mean"},
		Forms: []string{"DOUBLE -> DOUBLE", "TIMESTAMP -> TIMESTAMP", "INTERVAL -> INTERVAL"}, Nulls: types.Skips, Over: true,
		Unordered: true, About: "The mean, rounded once."},
	New: func(c Call) State {
		switch c.kind(0) {
		case types.Double:
			return &floatSums{mean: true}
		case types.Interval:
			return &intervalMeans{}
		}
		return &intSums{call: c, mean: true}
	},
	Uncast: true,
}
