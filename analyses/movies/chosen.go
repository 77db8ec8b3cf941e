package movies

import (
	"posta.dev/posta/analyses/internal/idtable"
	"posta.dev/posta/rows/exact"
)

// chosen is the movies whose ratings and casts are asked for, with what was counted of their ratings since the last flush.
type chosen struct {
	index   idtable.Table
	movies  []chosenMovie
	touched []int32 // those with ratings, each once
}

type chosenMovie struct {
	id    int64
	title string
	sum   exact.Sum
	count int64
}

func newChosen() *chosen { return &chosen{index: idtable.New()} }

func (c *chosen) add(id int64, title []byte) {
	c.index.Put(id, int32(len(c.movies)))
	c.movies = append(c.movies, chosenMovie{id: id, title: string(title)})
}

func (c *chosen) rate(n int32, rating float64) {
	m := &c.movies[n]
	if m.count == 0 {
		c.touched = append(c.touched, n)
	}
	m.count++
	m.sum.Add(rating)
}
