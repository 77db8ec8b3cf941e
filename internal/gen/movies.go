package gen

import (
	"fmt"
	"math/rand/v2"
)

// Movies makes the data of analysis movies with rows ratings, malformed ones included, of about 25 bytes. It makes a movie
// for every fifty ratings, and 300 more, but at most 200,000: about 1,000 bytes of metadata each, and 2,500 of credits.
//
// Quirks. Movies: a byte order mark; rows broken over three lines, so that the date stands in the place of the id; repeated
// ids, with everything else different, also after a row that is rejected; empty overviews and titles, overviews of one space;
// invalid dates, budgets and literals; budgets with cents, below zero, and 0 for unknown; no genres and no countries; names
// with apostrophes in double quotes, with both quotes, with escapes of every form; overviews with line breaks, doubled quotes,
// capitals, negations, "but", exclamation marks and emoji. Ratings: CRLF, unknown movies, numbers written in several ways.
// Credits: people who are twice in a cast, or have two names; repeated and unknown movies; empty casts, keys in another order,
// None; no newline at the end. All: rows that cannot be read.
func Movies(dir Dir, rows int, seed uint64) error {
	if rows < 0 {
		return fmt.Errorf("generate movies: %w", errRows)
	}
	w := newFilmWriter(min(rows/50+300, 200000), rand.New(rand.NewPCG(seed, 103)))
	return writeFiles(dir, file{"movies_metadata.csv", w.fillMetadata},
		file{"ratings.csv", func(flush flusher) []byte { return w.fillRatings(flush, rows) }}, file{"credits.csv", w.fillCredits})
}

// filmWriter appends rows of the three files.
type filmWriter struct {
	r     *rand.Rand
	cal   *calendar
	ids   []int    // of the films, in order
	names [][]byte // of people, as Python writes them
	field []byte   // of a row, before it is quoted
}

func newFilmWriter(films int, r *rand.Rand) *filmWriter {
	w := &filmWriter{r: r, cal: newCalendar(1960, 2017)}
	for id, i := 1, 0; i < films; i++ {
		id += 1 + r.IntN(9)
		w.ids = append(w.ids, id)
	}
	for i := range films/2 + 50 {
		w.names = append(w.names, personName(r, i))
	}
	return w
}

// few draws a number below n, low ones more often.
func (w *filmWriter) few(n int) int { return min(w.r.IntN(n), w.r.IntN(n), w.r.IntN(n)) }

// pick draws one of several.
func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
