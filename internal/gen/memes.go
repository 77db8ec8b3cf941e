package gen

import (
	"fmt"
	"math/rand/v2"
)

// Memes makes the data of analysis memes with so many comments, malformed ones included, of about 180 bytes, and a post for
// every eight of them, of about 160.
//
// Quirks. Posts: some that only have text and no url, ids that are there twice, with another score, or without the url the
// second time; permalinks with and without a slash at the end, with a query, with "/comments/" once more. Comments: bodies in
// quotes with commas, line ends and doubled quotes, UTF-8, bytes that are not UTF-8; bodies that are empty, [deleted] or
// [removed], with a sentiment nevertheless, and bodies that only look like that; words of students in any case, within other
// words, with letters that become ASCII in lower case, and cut in two; sentiments that are missing, of many digits, with
// exponents; comments of posts that are not there; several posts with the same best mean, some of them with as many comments;
// no newline at the end. Both: every way for a row to be malformed, once in five hundred rows.
func Memes(dir Dir, rows int, seed uint64) error {
	if rows < 0 {
		return fmt.Errorf("generate memes: %w", errRows)
	}
	w := newMemeWriter((rows+7)/8, rand.New(rand.NewPCG(seed, 102)))
	return writeFiles(dir, file{"posts.csv", w.fillPosts},
		file{"comments.csv", func(flush flusher) []byte { return w.fillComments(flush, rows) }})
}
