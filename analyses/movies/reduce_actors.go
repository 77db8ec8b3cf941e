package movies

import (
	"cmp"
	"slices"
	"strings"

	"posta.dev/posta/rows/fold"
)

type actor struct {
	person, movies int64
	name           string
}

// reduceActors counts each person's rows, because there is one row per movie.
func reduceActors(t *fold.Table, top int, emit func(row ...any)) {
	var all []actor
	for _, row := range t.Sorted(nil) {
		person, name := t.KeyInt(row, 0), minText(t, row, 0)
		if n := len(all); n == 0 || all[n-1].person != person {
			all = append(all, actor{person: person, name: name})
		}
		a := &all[len(all)-1]
		a.movies++
		a.name = min(a.name, name)
	}
	slices.SortFunc(all, actor.compare)
	for _, a := range all[:min(top, len(all))] {
		emit(a.name, a.movies)
	}
}

func (a actor) compare(b actor) int {
	return cmp.Or(cmp.Compare(b.movies, a.movies), strings.Compare(a.name, b.name), cmp.Compare(a.person, b.person))
}
