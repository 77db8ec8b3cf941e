package memes

import (
	"fmt"
	"math"

	"posta/analyses"
	"posta/batch"
	"posta/fold"
)

type joiner struct {
	total total
	posts []post
	moods []mood
	fines []fine
	texts []byte // of spans

	// Of one call of Facts, kept for their memory.
	codes         []uint32
	flags, values []int64
}

// post is a row of posts.csv as the table keeps it.
type post struct{ id, last span }

// mood is what the comments of a batch say about a post.
type mood struct {
	post     span
	units    int64
	n        int64 // comments with a sentiment
	students int64
}

// fine is a sentiment that is not one of units: so few that they are not added up here.
type fine struct {
	post  span
	code  uint32 // of the post in its batch
	value float64
}

// span is a text in joiner.texts.
type span struct{ from, to int }

func newJoiner(args analyses.Args, _ analyses.Replica) (analyses.Joiner, error) {
	if _, err := readWords(args); err != nil {
		return nil, err
	}
	return &joiner{}, nil
}

// Reference has nothing to take: there is no reference stream.
func (j *joiner) Reference(stream int, _ *batch.Batch, _ analyses.Position) error {
	return fmt.Errorf("memes: stream %d is no reference stream", stream)
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

// addPosts keeps the posts. Which of two rows is the last one is decided by their place in the file (D1). Line of the batch
// plus row in it is such a place: each row takes a line at least, so the next batch begins beyond all of these.
func (j *joiner) addPosts(b *batch.Batch, pos analyses.Position) {
	ids, urls, scores := b.Texts(postID), b.Texts(postURL), b.Ints(postScore)
	for row := range b.Rows() {
		score := scores.At(row)
		j.total.add(score)
		url := urls.At(row)
		if len(url) == 0 {
			continue // no query asks for it, and a quarter of all are like it
		}
		id := j.copy(ids.At(row))
		from := len(j.texts)
		j.texts = appendPost(j.texts, pos.Line+uint64(row), score, url)
		j.posts = append(j.posts, post{id, span{from, len(j.texts)}})
	}
}

func (j *joiner) copy(v []byte) span {
	from := len(j.texts)
	j.texts = append(j.texts, v...)
	return span{from, len(j.texts)}
}

// addComments adds up the comments of each post in the batch.
func (j *joiner) addComments(b *batch.Batch) {
	ids := b.Dicts(commentPost)
	j.codes = ids.AppendCodes(j.codes[:0])
	j.flags = b.Ints(commentFlags).AppendTo(j.flags[:0])
	j.values = b.Ints(commentSentiment).AppendTo(j.values[:0])
	first, from := len(j.moods), len(j.fines)
	for range ids.Len() {
		j.moods = append(j.moods, mood{})
	}
	moods := j.moods[first:]
	for row, flags := range j.flags {
		m := &moods[j.codes[row]]
		if flags&hasSentiment != 0 {
			m.n++
			if flags&fineSentiment == 0 {
				m.units += j.values[row]
			} else {
				j.fines = append(j.fines, fine{code: j.codes[row], value: math.Float64frombits(uint64(j.values[row]))})
			}
		}
		if flags&aboutStudents != 0 {
			m.students++
		}
	}
	for i := from; i < len(j.fines); i++ {
		f := &j.fines[i]
		f.post = j.copy(ids.Entry(int(f.code)))
	}
	j.moods = j.moods[:first]
	for code := range moods {
		if m := &moods[code]; m.n > 0 || m.students > 0 {
			m.post = j.copy(ids.Entry(code))
			j.moods = append(j.moods, *m) // at or before m: nothing is overwritten that is still to be read
		}
	}
}

// End has nothing to do: who wins a post is decided by position, and comments meet posts in the reducer.
func (j *joiner) End(int) error { return nil }

// Flush adds everything to the tables.
func (j *joiner) Flush(tables []*fold.Table) error {
	j.total.flush(tables[totals])
	t := tables[links]
	for _, p := range j.posts {
		t.PutMaxText(t.Row(t.Key().Text(j.text(p.id))), 0, j.text(p.last))
	}
	for i := range j.moods {
		j.moods[i].flush(tables, j.text(j.moods[i].post))
	}
	t = tables[fines]
	for _, f := range j.fines {
		t.AddFloat(t.Row(t.Key().Text(j.text(f.post))), 0, f.value)
	}
	j.posts, j.moods, j.fines, j.texts = j.posts[:0], j.moods[:0], j.fines[:0], j.texts[:0]
	for _, t := range tables {
		if err := t.Err(); err != nil {
			return fmt.Errorf("memes: %w", err)
		}
	}
	return nil
}

func (j *joiner) text(s span) []byte { return j.texts[s.from:s.to] }

func (m *mood) flush(tables []*fold.Table, post []byte) {
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
