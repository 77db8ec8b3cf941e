package movies

import (
	"bytes"
	"cmp"
	"slices"

	"posta.dev/posta/rows/fold"
	"posta.dev/posta/rows/progress"
)

type actor struct {
	person, movies int64
	name           []byte // a view into the table
}

// reduceActors counts each person's rows, because there is one row per movie. Sorting the rows by person took twice as long as a map of
// people.
func reduceActors(t *fold.Table, top int, emit func(row ...any)) {
	var all []actor
	number := map[int64]int{} // by person, the index in all
	for row := range t.Len() {
		if row%progress.Every == progress.Every-1 {
			t.Pause()
		}
		person := t.KeyInt(row, 0)
		name, _ := t.MinText(row, 0)
		n, known := number[person]
		if !known {
			n = len(all)
			number[person] = n
			all = append(all, actor{person: person, name: name})
		}
		a := &all[n]
		a.movies++
		if bytes.Compare(name, a.name) < 0 {
			a.name = name
		}
	}
	all = withMost(all, top)
	slices.SortFunc(all, actor.compare)
	for _, a := range all[:min(top, len(all))] {
		emit(string(a.name), a.movies)
	}
}

// withMost leaves those out who cannot be among the first. Most people have one movie or two, so to sort all of them means to compare
// nearly all names.
func withMost(all []actor, top int) []actor {
	if top <= 0 || len(all) <= top {
		return all
	}
	counts := make([]int64, len(all))
	for i := range all {
		counts[i] = all[i].movies
	}
	slices.Sort(counts)
	least := counts[len(counts)-top]
	return slices.DeleteFunc(all, func(a actor) bool { return a.movies < least })
}

func (a actor) compare(b actor) int {
	return cmp.Or(cmp.Compare(b.movies, a.movies), bytes.Compare(a.name, b.name), cmp.Compare(a.person, b.person))
}
