package memes

import (
	"bytes"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/fold"
)

// prune keeps only the rows of the tables of comments that an answer may need. All rows of a post are in one partition. So the
// happiest post of all is the happiest of its partition, and if a post that students talk about has a url, the url is in the
// same partition. prune drops most posts, whose urls are nearly all of the tables' bytes.
func prune(_ analyses.Args, stream int, tables []*fold.Table) error {
	if stream != comments {
		return nil
	}
	links, talk := tables[links], tables[students]
	best, err := happiestOf(links, tables[moods], tables[fines])
	if err != nil {
		return err
	}
	id := slices.Clone(best.id) // best.id is a view into a table that changes below
	isBest := func(t *fold.Table) func(int) bool {
		return func(row int) bool { return best.n > 0 && bytes.Equal(t.KeyText(row, 0), id) }
	}
	tables[moods].Retain(isBest(tables[moods]))
	tables[fines].Retain(isBest(tables[fines]))
	talk.Retain(func(row int) bool {
		_, ok := links.Find(links.Key().Text(talk.KeyText(row, 0)))
		return ok
	})
	happy := isBest(links)
	links.Retain(func(row int) bool {
		_, ok := talk.Find(talk.Key().Text(links.KeyText(row, 0)))
		return ok || happy(row)
	})
	return nil
}
