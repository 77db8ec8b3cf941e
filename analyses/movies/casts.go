package movies

import "posta.dev/posta/rows/fold"

// casts holds the casts of selected movies since the last flush. They are copied, because a batch is valid only during its
// call. Few movies are selected, so this is cheap.
type casts struct {
	movies []int64
	ends   []int // the end of each cast in packed
	packed []byte
}

func (c *casts) keep(movie int64, members []byte) {
	c.movies = append(c.movies, movie)
	c.packed = append(c.packed, members...)
	c.ends = append(c.ends, len(c.packed))
}

// flush adds a row per person and movie. The table's key removes duplicates, so the rows of a person can be counted.
func (c *casts) flush(t *fold.Table) error {
	start := 0
	for i, movie := range c.movies {
		for rest := c.packed[start:c.ends[i]]; len(rest) > 0; {
			person, after, err := cutInt(rest)
			if err != nil {
				return err
			}
			name, after, err := cutText(after)
			if err != nil {
				return err
			}
			t.PutMinText(t.Row(t.Key().Int(person).Int(movie)), 0, name)
			rest = after
		}
		start = c.ends[i]
	}
	c.movies, c.ends, c.packed = c.movies[:0], c.ends[:0], c.packed[:0]
	return nil
}
