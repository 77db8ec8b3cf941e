package movies

import (
	"posta.dev/posta/analyses/internal/idtable"
	"posta.dev/posta/rows/exact"
)

// selectedMovies holds the movies whose ratings and casts are needed, and the totals of their ratings since the last flush.
type selectedMovies struct {
	index   idtable.Table
	movies  []selectedMovie
	touched []int32 // movies that have ratings, each once
}

type selectedMovie struct {
	id    int64
	title string
	sum   exact.Sum
	count int64
}

func newSelectedMovies() *selectedMovies { return &selectedMovies{index: idtable.New()} }

func (c *selectedMovies) add(id int64, title []byte) {
	c.index.Put(id, int32(len(c.movies)))
	c.movies = append(c.movies, selectedMovie{id: id, title: string(title)})
}

// fork returns the same movies with totals of 0.
func (c *selectedMovies) fork() *selectedMovies {
	f := &selectedMovies{index: c.index, movies: make([]selectedMovie, len(c.movies))}
	for i := range c.movies {
		f.movies[i] = selectedMovie{id: c.movies[i].id, title: c.movies[i].title}
	}
	return f
}

func (c *selectedMovies) rate(n int32, rating float64) {
	m := &c.movies[n]
	if m.count == 0 {
		c.touched = append(c.touched, n)
	}
	m.count++
	m.sum.Add(rating)
}
