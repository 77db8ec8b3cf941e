package memes

import (
	"fmt"
	"math"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// joiner folds into tables of its own, which Flush hands over. Rejected: collecting rows for Flush to fold. Every post was
// then in memory twice, and was copied once more.
type joiner struct {
	total  total
	tables []*fold.Table

	// Buffers of one call of Facts, kept to reuse their memory.
	codes         []uint32
	flags, values []int64
	moods         []mood
	fines         []fine
	last          []byte
}

// mood is what the comments of a batch say about a post.
type mood struct {
	units    int64
	n        int64 // how many comments have a sentiment
	students int64
}

// fine is a sentiment that is not a whole number of units. There are so few that they are not added up per batch.
type fine struct {
	code  uint32 // code of the post in its batch
	value float64
}

func newJoiner(args analyses.Args, _ analyses.Replica) (analyses.Joiner, error) {
	if _, err := readWords(args); err != nil {
		return nil, err
	}
	return fork(), nil
}

// Fork implements analyses.Forker. There is nothing to share.
func (j *joiner) Fork(int) (analyses.Joiner, error) { return fork(), nil }

func fork() *joiner {
	j := &joiner{}
	specs := tables()
	for i := range specs {
		j.tables = append(j.tables, fold.NewOutgoing(&specs[i]))
	}
	return j
}

// Reference returns an error, because there is no reference stream.
func (j *joiner) Reference(stream int, _ *batch.Batch, _ analyses.Position) error {
	return fmt.Errorf("memes: stream %d is not a reference stream", stream)
}

// Facts takes posts and comments.
func (j *joiner) Facts(stream int, b *batch.Batch, pos analyses.Position) error {
	switch stream {
	case posts:
		j.addPosts(b, pos)
	case comments:
		j.addComments(b)
	default:
		return fmt.Errorf("memes: there is no stream %d", stream)
	}
	return nil
}

// addPosts adds the posts. The places of two rows in the file decide which is the last one (D1). A row's place is the batch's
// line plus the row's index in the batch: each row takes at least one line, so the places of the next batch are larger.
func (j *joiner) addPosts(b *batch.Batch, pos analyses.Position) {
	ids, urls, scores := b.Texts(postID), b.Texts(postURL), b.Ints(postScore)
	t := j.tables[links]
	for row := range b.Rows() {
		score := scores.At(row)
		j.total.add(score)
		url := urls.At(row)
		if len(url) == 0 {
			continue // no query needs it; a quarter of all posts are like this
		}
		j.last = appendPost(j.last[:0], pos.Line+uint64(row), score, url)
		t.PutMaxText(t.Row(t.Key().Text(ids.At(row))), 0, j.last)
	}
}

// addComments adds up the comments of each post in the batch.
func (j *joiner) addComments(b *batch.Batch) {
	ids := b.Dicts(commentPost)
	j.codes = ids.AppendCodes(j.codes[:0])
	j.flags = b.Ints(commentFlags).AppendTo(j.flags[:0])
	j.values = b.Ints(commentSentiment).AppendTo(j.values[:0])
	j.moods, j.fines = j.moods[:0], j.fines[:0]
	for range ids.Len() {
		j.moods = append(j.moods, mood{})
	}
	for row, flags := range j.flags {
		m := &j.moods[j.codes[row]]
		if flags&hasSentiment != 0 {
			m.n++
			if flags&fineSentiment == 0 {
				m.units += j.values[row]
			} else {
				j.fines = append(j.fines, fine{j.codes[row], math.Float64frombits(uint64(j.values[row]))})
			}
		}
		if flags&aboutStudents != 0 {
			m.students++
		}
	}
	for code := range j.moods {
		j.moods[code].add(j.tables, ids.Entry(code))
	}
	t := j.tables[fines]
	for _, f := range j.fines {
		t.AddFloat(t.Row(t.Key().Text(ids.Entry(int(f.code)))), 0, f.value)
	}
}

// add adds what a batch says about a post to the tables, if it says anything.
func (m *mood) add(tables []*fold.Table, post []byte) {
	if m.n > 0 {
		t := tables[moods]
		row := t.Row(t.Key().Text(post))
		t.AddSum(row, 0, m.units)
		t.AddSum(row, 1, m.n)
	}
	if m.students > 0 {
		t := tables[students]
		t.AddSum(t.Row(t.Key().Text(post)), 0, m.students)
	}
}

// End has nothing to do: a row's position decides whether it wins its post, and comments and posts meet in the aggregators.
func (j *joiner) End(int) error { return nil }

// Flush moves everything to the tables.
func (j *joiner) Flush(tables []*fold.Table) error {
	j.total.flush(j.tables[totals])
	for i, t := range j.tables {
		t.MoveTo(tables[i])
	}
	return nil
}
