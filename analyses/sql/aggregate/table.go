package aggregate

import (
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// All are the aggregates, in the order of the documentation, which docs/sql-reference.md is written from:
// go test ./docs -run TestTheFunctionsOfThePage -update
var All = []*Aggregate{
	&count,
	&sum,
	&avg,
	&least,
	&greatest,
	&minBy,
	&maxBy,
	&boolAnd,
	&boolOr,
	&stddevSamp,
	&stddevPop,
	&varSamp,
	&varPop,
	&corr,
	&median,
	&quantileCont,
	&quantileDisc,
	&mode,
	&anyValue,
	&first,
	&last,
	&stringAgg,
	&list,
	&approxCountDistinct,
	&quartiles,
	&approxUnique,
}

var byName = func() map[string]*Aggregate {
	m := map[string]*Aggregate{}
	for _, a := range All {
		a.Class, a.Group = types.Aggregate, "Aggregates"
		for _, n := range append([]string{a.Name}, a.Aliases...) {
			m[n] = a
		}
	}
	return m
}()

// Find returns the aggregate that a name in lower case stands for, nil if there is none.
func Find(name string) *Aggregate { return byName[name] }

// SeesOrder reports whether an aggregate may depend on the order of its rows.
func SeesOrder(a *plan.Aggregate) bool {
	of := Find(a.Func) // nil for GROUPING
	return of == nil || !of.Unordered
}
