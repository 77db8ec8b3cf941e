package movies

import (
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
)

func newRunParser(_ analyses.Args, stream int, file analyses.File, b *batch.Builder) func(run *csv.Run) (read, taken int) {
	if stream != ratings || file.Cells != nil {
		return nil
	}
	return (&ratingRuns{b: b, movie: b.Int(ratingMovie), rating: b.Dict(ratingValue)}).read
}

// ratingRuns reads ratings as the function of parseRatings does, many at once and column by column. There are ten different ratings, and
// each is looked at once in a chunk.
type ratingRuns struct {
	b       *batch.Builder
	movie   *batch.IntBuilder
	rating  *batch.DictBuilder
	numbers csv.Numbers
	ids     []int64
}

// read implements analyses.Analysis.NewRunParser.
func (x *ratingRuns) read(run *csv.Run) (read, taken int) {
	data := run.Data()
	from, to := run.Leading(0, run.Rows())
	x.ids = x.numbers.Ints(x.ids[:0], data, from, to)
	from, to = run.Leading(1, len(x.ids))
	n, rows, known := len(from), len(x.rating.Codes()), x.rating.Len()
	x.rating.AppendAll(data, from, to)
	x.movie.AppendAll(x.ids[:n])
	for code := known; code < x.rating.Len(); code++ {
		if _, ok := csv.ParseFloat(x.rating.Entry(code)); !ok {
			// Codes are given in the order of rows, so this is the first row of those that have to be rejected.
			n = slices.Index(x.rating.Codes()[rows:], uint32(code))
			x.b.Truncate(rows + n)
			break
		}
	}
	return n, n
}
