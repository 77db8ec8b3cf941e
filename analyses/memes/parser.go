package memes

import (
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/internal/words"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
)

func newParser(args analyses.Args, stream int, _ analyses.File, b *batch.Builder) (func([][]byte) error, error) {
	list, err := readWords(args)
	if err != nil {
		return nil, err
	}
	switch stream {
	case posts:
		return parsePosts(b), nil
	case comments:
		return parseComments(b, words.New(list)), nil
	}
	return nil, fmt.Errorf("memes has no stream %d", stream)
}

const permalinkForm = "a link with /comments/ and an id"

func parsePosts(b *batch.Builder) func([][]byte) error {
	var links permalinks
	id, url, score := b.Text(postID), b.Text(postURL), b.Int(postScore)
	return func(f [][]byte) error {
		post, ok := links.postOf(f[0])
		if !ok {
			return analyses.BadField("permalink", f[0], permalinkForm)
		}
		v, ok := csv.ParseInt(f[2])
		if !ok {
			return analyses.BadField("score", f[2], "an integer")
		}
		id.Append(post)
		url.Append(f[1])
		score.Append(v)
		return nil
	}
}

// parseComments keeps only what the queries need to know about a body. Bodies are half of the file, and no later node needs
// them.
func parseComments(b *batch.Builder, about *words.Matcher) func([][]byte) error {
	var links permalinks
	post, flags, sentiment := b.Dict(commentPost), b.Int(commentFlags), b.Int(commentSentiment)
	return func(f [][]byte) error {
		id, ok := links.postOf(f[0])
		if !ok {
			return analyses.BadField("permalink", f[0], permalinkForm)
		}
		value, is, ok := parseSentiment(f[2])
		if !ok {
			return analyses.BadField("sentiment", f[2], "a number")
		}
		switch {
		case !counts(f[1]):
			value, is = 0, 0
		case about.In(f[1]):
			is |= aboutStudents
		}
		if is == 0 {
			id = nil
		}
		post.Append(id)
		flags.Append(is)
		sentiment.Append(value)
		return nil
	}
}

// counts reports whether a comment with this body counts.
func counts(body []byte) bool {
	switch string(body) {
	case "", "[deleted]", "[removed]":
		return false
	}
	return true
}
