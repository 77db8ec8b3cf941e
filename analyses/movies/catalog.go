package movies

import (
	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
)

// catalog collects the movies as they arrive, and knows which row of an id comes first. It keeps the batches until their
// stream has ended, and an entry of 16 bytes for each id.
type catalog struct {
	batches []storedBatch
	rows    map[int64]rowRef
}

// storedBatch is a batch and its position.
type storedBatch struct {
	batch *batch.Batch
	pos   analyses.Position
	first []bool // for each row: whether it is the first one of its id, among those that have arrived
}

type rowRef struct{ batch, row int32 }

func newCatalog() *catalog { return &catalog{rows: map[int64]rowRef{}} }

func (c *catalog) add(b *batch.Batch, pos analyses.Position) {
	number := int32(len(c.batches))
	first := make([]bool, b.Rows())
	c.batches = append(c.batches, storedBatch{b, pos, first})
	ids := b.Ints(movieID)
	for row := range int32(b.Rows()) {
		id := ids.At(int(row))
		old, ok := c.rows[id]
		if ok {
			if !before(&pos, row, &c.batches[old.batch].pos, old.row) {
				continue
			}
			c.batches[old.batch].first[old.row] = false
		}
		c.rows[id], first[row] = rowRef{number, row}, true
	}
}

// movie is a row of the catalog. Its texts are views.
type movie struct {
	id       int64
	released int64
	budget   float64
	ratio    float64
	feeling  int64
	title    []byte
	genres   []byte
}

// movie returns a row of a batch. Its countries are number made of the batch's dictionary.
func (s *storedBatch) movie(row int) (m movie, made uint32) {
	b := s.batch
	genres := b.Dicts(movieGenres)
	return movie{
		id:       b.Ints(movieID).At(row),
		released: b.Ints(movieReleased).At(row),
		budget:   b.Floats(movieBudget).At(row),
		ratio:    b.Floats(movieRatio).At(row),
		feeling:  b.Ints(movieFeeling).At(row),
		title:    b.Texts(movieTitle).At(row),
		genres:   genres.Entry(int(genres.Code(row))),
	}, b.Dicts(movieCountries).Code(row)
}
