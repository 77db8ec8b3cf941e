package movies

import (
	"errors"
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/fold"
)

// The first days of years, counted from 1970.
const (
	year2000 = 10957
	year2010 = 14610
)

var (
	errEnded    = errors.New("movies: a batch of movies after their end")
	errNotEnded = errors.New("movies: facts before the end of movies")
)

// joiner has two phases. Until the movies have ended, it collects them in the catalog. Then it counts facts of the selected
// movies.
type joiner struct {
	cfg      settings
	first    bool            // whether this is the first joiner, which alone counts the movies that all joiners have
	catalog  *catalog        // nil after the movies have ended
	selected *selectedMovies // nil before the movies have ended
	totals   *movieTotals    // nil except from the end of the movies to the next Flush
	casts    casts
	of       *joiner // the joiner that this one is a fork of, or nil

	// Buffers of one call of Facts, kept to reuse their memory.
	ids    []int64
	codes  []uint32
	values []float64
}

func newJoiner(args analyses.Args, replica analyses.Replica) (analyses.Joiner, error) {
	cfg, err := readSettings(args)
	if err != nil {
		return nil, err
	}
	return &joiner{cfg: cfg, first: replica.Index == 0, catalog: newCatalog()}, nil
}

// Reference takes movies.
func (j *joiner) Reference(stream int, b *batch.Batch, pos analyses.Position) error {
	switch {
	case stream != movies:
		return fmt.Errorf("movies: stream %d is not a reference stream", stream)
	case j.catalog == nil:
		return errEnded
	}
	j.catalog.add(b, pos)
	return nil
}

// End handles the end of the movies, when the first row of each id is known. It counts what the queries ask about the movies
// themselves, and keeps only the catalog's selected movies.
func (j *joiner) End(stream int) error {
	if stream != movies {
		return nil
	}
	if j.catalog == nil {
		return errEnded
	}
	j.selected, j.totals = newSelectedMovies(), newMovieTotals()
	for i := range j.catalog.batches {
		if err := j.selectFrom(&j.catalog.batches[i]); err != nil {
			return err
		}
	}
	j.catalog = nil
	return nil
}

// selectFrom counts and selects the movies of a batch that are the first of their id. The batches are walked in order. To walk the
// catalog's map was rejected: each movie is then read from another place of memory, and the cores wait for the end of the movies meanwhile.
func (j *joiner) selectFrom(s *storedBatch) error {
	countries := s.batch.Dicts(movieCountries)
	made := make([]producers, countries.Len())
	for i := range made {
		var err error
		if made[i], err = producersOf(countries.Entry(i), &j.cfg); err != nil {
			return err
		}
	}
	for row, first := range s.first {
		if !first {
			continue
		}
		m, code := s.movie(row)
		by := &made[code]
		if by.country && m.released >= year2000 {
			j.selected.add(m.id, m.title)
		}
		if j.first {
			j.totals.count(&m, by)
		}
	}
	return nil
}

// Facts counts ratings, or keeps casts.
func (j *joiner) Facts(stream int, b *batch.Batch, _ analyses.Position) error {
	switch {
	case stream != ratings && stream != credits:
		return fmt.Errorf("movies: stream %d is not a fact stream", stream)
	case j.selected == nil:
		return errNotEnded
	case stream == ratings:
		return j.rate(b)
	}
	ids, members := b.Ints(creditMovie), b.Texts(creditCast)
	for row := range b.Rows() {
		if id := ids.At(row); j.selected.index.Find(id) >= 0 {
			j.casts.keep(id, members.At(row))
		}
	}
	return nil
}

// rate counts ratings. Nearly all are of movies that are not selected; such a rating costs one look-up in the table of
// selected movies.
func (j *joiner) rate(b *batch.Batch) error {
	if len(j.selected.movies) == 0 {
		return nil
	}
	numbers := b.Dicts(ratingValue)
	j.values = j.values[:0]
	for i := range numbers.Len() {
		v, ok := csv.ParseFloat(numbers.Entry(i))
		if !ok {
			return fmt.Errorf("movies: rating %.40q is not a number", numbers.Entry(i))
		}
		j.values = append(j.values, v)
	}
	j.ids = b.Ints(ratingMovie).AppendTo(j.ids[:0])
	j.codes = numbers.AppendCodes(j.codes[:0])
	for row, id := range j.ids {
		if n := j.selected.index.Find(id); n >= 0 {
			j.selected.rate(n, j.values[j.codes[row]])
		}
	}
	return nil
}

// Fork implements analyses.Forker. Forks share the index of the selected movies, and count separately. A fork's Flush adds its counts to
// those of its origin. A fork is flushed after each chunk, but the origin only once in a commit, so most movies are looked up in the table
// once instead of a dozen times.
func (j *joiner) Fork(int) (analyses.Joiner, error) {
	if j.selected == nil {
		return nil, errNotEnded
	}
	return &joiner{cfg: j.cfg, selected: j.selected.fork(), of: j}, nil
}

// Flush adds what was counted to the tables.
func (j *joiner) Flush(tables []*fold.Table) error {
	if j.totals != nil {
		j.totals.flush(tables)
		j.totals = nil
	}
	switch {
	case j.of != nil:
		j.selected.moveTo(j.of.selected)
	case j.selected != nil:
		j.selected.flush(tables[rated])
	}
	return j.casts.flush(tables[actors])
}

// moveTo adds what a fork has counted to its origin, and sets the fork's counts to 0.
func (c *selectedMovies) moveTo(origin *selectedMovies) {
	for _, n := range c.touched {
		m, to := &c.movies[n], &origin.movies[n]
		if to.count == 0 {
			origin.touched = append(origin.touched, n)
		}
		to.count += m.count
		to.sum.AddSum(&m.sum)
		m.count = 0
		m.sum.Reset()
	}
	c.touched = c.touched[:0]
}

func (c *selectedMovies) flush(t *fold.Table) {
	for _, n := range c.touched {
		m := &c.movies[n]
		row := t.Row(t.Key().Int(m.id))
		t.PutMinText(row, 0, []byte(m.title))
		t.AddExact(row, 1, &m.sum)
		t.AddSum(row, 2, m.count)
		m.sum.Reset()
		m.count = 0
	}
	c.touched = c.touched[:0]
}
