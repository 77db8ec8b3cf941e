package gen

import (
	"fmt"
	"math/rand/v2"
)

// Memes makes the data of analysis memes with rows comments, malformed ones included, of about 180 bytes, and a post of about
// 160 bytes for every eight comments.
//
// Quirks. Posts: some that have only text and no url, repeated ids, with another score, or without the url the second time;
// permalinks with and without a slash at the end, with a query, with a second "/comments/". Comments: bodies in quotes with
// commas, line ends and doubled quotes, UTF-8, bytes that are not UTF-8; bodies that are empty, [deleted] or [removed], but
// have a sentiment, and bodies that only look like that; words of students in any case, within other words, with letters that
// become ASCII in lower case, and cut in two; sentiments that are missing, of many digits, with exponents; comments on
// unknown posts; several posts with the same best mean, some of them with equally many comments; no newline at the end. Both:
// every kind of malformed row, once in five hundred rows.
func Memes(dir Dir, rows int, seed uint64) error {
	if rows < 0 {
		return fmt.Errorf("generate memes: %w", errRows)
	}
	w := newMemeWriter((rows+7)/8, rand.New(rand.NewPCG(seed, 102)))
	return writeFiles(dir, file{"posts.csv", w.fillPosts},
		file{"comments.csv", func(flush flusher) []byte { return w.fillComments(flush, rows) }})
}
