package memes

import (
	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// Streams, columns of their batches, tables and queries, by index.
const (
	posts = iota
	comments
)

const (
	postID = iota
	postURL
	postScore
)

const (
	commentPost = iota // "" if flags are 0: such a comment counts in no query
	commentFlags
	commentSentiment // see sentiment.go
)

const (
	totals = iota
	links
	moods
	fines
	students
)

const (
	queryAverage = iota
	queryStudents
	querySentiment
)

// New returns the analysis.
func New() *analyses.Analysis {
	return &analyses.Analysis{
		Name:      "memes",
		About:     "posts and comments: the mean score, what students talk about, the happiest comments",
		Params:    params(),
		Streams:   streams(),
		Tables:    tables(),
		Queries:   queries(),
		NewParser: newParser,
		NewJoiner: newJoiner,
		Faster:    analyses.Faster{Prune: prune},
		Reduce:    reduce,
	}
}

func streams() []analyses.Stream {
	return []analyses.Stream{
		{
			Name: "posts", Files: "posts.csv",
			Columns: analyses.Columns("permalink", "url", "score"),
			Schema: []batch.FieldSpec{
				{Name: "id", Kind: batch.Text}, {Name: "url", Kind: batch.Text}, {Name: "score", Kind: batch.Int},
			},
		},
		{
			Name: "comments", Files: "comments.csv",
			Columns: analyses.Columns("permalink", "body", "sentiment"),
			Schema: []batch.FieldSpec{
				{Name: "post", Kind: batch.Dict}, {Name: "flags", Kind: batch.Int}, {Name: "sentiment", Kind: batch.Int},
			},
		},
	}
}

// tables returns the tables of a session. Their rows bound the memory of a session:
//
//	totals    one row
//	posts     different posts with a url: id, url and score of each
//	moods     different posts that have a comment with a sentiment: their sum and number
//	fines     those of them with a sentiment that is not one of units (see sentiment.go): the sum of these
//	students  different posts that have a comment with one of the words
//
// No table grows with the number of comments of a post. The reducer gets the rows that prune keeps: from each aggregator one
// row of moods, with its rows of fines and posts, and the posts with one of the words.
func tables() []fold.Spec {
	post := []fold.Key{{Name: "post", Kind: fold.KeyText}}
	return []fold.Spec{
		{
			Name: "totals", Stream: "posts", // a score is in two halves: see total.go
			Aggs: []fold.Agg{{Name: "high", Kind: fold.Sum}, {Name: "low", Kind: fold.Sum}, {Name: "posts", Kind: fold.Sum}},
		},
		// Posts are complete when their stream ends. They wait for the tables of comments, which are complete when the
		// comments end, so that prune sees all of them together.
		{
			Name: "posts", Stream: "comments", Merge: fold.Late, // posts are hardly ever repeated
			Keys: post, Aggs: []fold.Agg{{Name: "last", Kind: fold.MaxText}}, // see appendPost
		},
		{
			Name: "moods", Stream: "comments", Keys: post,
			Aggs: []fold.Agg{{Name: "units", Kind: fold.Sum}, {Name: "comments", Kind: fold.Sum}},
		},
		{Name: "fines", Stream: "comments", Keys: post, Aggs: []fold.Agg{{Name: "sentiment", Kind: fold.Exact}}},
		{Name: "students", Stream: "comments", Keys: post, Aggs: []fold.Agg{{Name: "comments", Kind: fold.Sum}}},
	}
}

func queries() []analyses.Query {
	return []analyses.Query{
		{Name: "average", Columns: []string{"average_score", "posts"}, Tables: []string{"totals"}},
		{Name: "students", Columns: []string{"post_id", "url", "score"}, Tables: []string{"totals", "posts", "students"}},
		{
			Name: "sentiment", Columns: []string{"post_id", "url", "average_sentiment", "comments"},
			Tables: []string{"posts", "moods", "fines"}, Download: "url",
		},
	}
}
