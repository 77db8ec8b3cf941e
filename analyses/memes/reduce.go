package memes

import (
	"bytes"
	"fmt"
	"math"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/exact"
	"posta.dev/posta/rows/fold"
)

func reduce(_ analyses.Args, query int, tables []*fold.Table, emit func(row ...any)) error {
	switch query {
	case queryAverage:
		if m, ok := meanOf(tables[0]); ok {
			emit(m.value(), m.n.Int64())
		}
		return nil
	case queryStudents:
		return reduceStudents(tables[0], tables[1], tables[2], emit)
	case querySentiment:
		return reduceSentiment(tables[0], tables[1], tables[2], emit)
	}
	return fmt.Errorf("memes has no query %d", query)
}

// findPost returns what is known about a post; ok is false if it is unknown, or never had a url.
func findPost(links *fold.Table, id []byte) (score int64, url []byte, ok bool, err error) {
	row, found := links.Find(links.Key().Text(id))
	if !found {
		return 0, nil, false, nil
	}
	last, _ := links.MaxText(row, 0)
	if score, url, err = cutPost(last); err != nil {
		return 0, nil, false, fmt.Errorf("post %.40q: %w", id, err)
	}
	return score, url, true, nil
}

func reduceStudents(total, links, students *fold.Table, emit func(row ...any)) error {
	m, ok := meanOf(total)
	if !ok {
		return nil
	}
	for _, row := range students.Sorted(nil) {
		id := students.KeyText(row, 0)
		score, url, ok, err := findPost(links, id)
		if err != nil {
			return err
		}
		if ok && m.below(score) {
			emit(string(id), string(url), score)
		}
	}
	return nil
}

// happiest is the best post so far.
type happiest struct {
	id, url []byte
	mean    float64
	n       int64
}

func reduceSentiment(links, moods, fines *fold.Table, emit func(row ...any)) error {
	best, err := happiestOf(links, moods, fines)
	if err == nil && best.n > 0 {
		emit(string(best.id), string(best.url), best.mean, best.n)
	}
	return err
}

// happiestOf returns the best post. Its n is 0 if there is none.
func happiestOf(links, moods, fines *fold.Table) (best happiest, err error) {
	for row := range moods.Len() {
		id, units, n := moods.KeyText(row, 0), moods.Sum(row, 0), moods.Sum(row, 1)
		var rest *exact.Sum
		if at, ok := fines.Find(fines.Key().Text(id)); ok {
			rest = fines.Exact(at, 0)
		}
		h := happiest{id: id, mean: exactMean(units, rest, n), n: n}
		if !h.beats(&best) {
			continue
		}
		_, url, ok, err := findPost(links, h.id)
		if err != nil {
			return best, err
		}
		if ok {
			h.url = url
			best = h
		}
	}
	return best, nil
}

// beats reports whether h is better than o. It returns false if the mean of h is NaN or infinite.
func (h *happiest) beats(o *happiest) bool {
	switch {
	case math.IsNaN(h.mean) || math.IsInf(h.mean, 0):
		return false
	case o.n == 0 || h.mean != o.mean:
		return o.n == 0 || h.mean > o.mean
	case h.n != o.n:
		return h.n > o.n
	}
	return bytes.Compare(h.id, o.id) < 0
}
