package memes

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/fold"
)

// cut divides a session's tables as the aggregators have them, prunes them if asked, and puts the rest together again.
func cut(t *testing.T, s session, partitions int, prunes bool) session {
	t.Helper()
	together := newSession(t)
	for p := range partitions {
		part := newSession(t)
		for i, table := range s.Tables {
			move(t, part.Tables[i], table, table.Partition(partitions)[p])
		}
		if prunes {
			for stream := range New().Streams {
				if err := prune(part.Args, stream, part.Tables); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i, table := range part.Tables {
			move(t, together.Tables[i], table, table.Rows())
		}
	}
	return together
}

// add folds rows, as one commit.
func (s session) add(t *testing.T, stream int, rows ...string) {
	t.Helper()
	err := s.Facts(stream, decoded(t, stream, rows...), analyses.Position{Line: 2})
	if err == nil {
		err = s.Flush(s.Tables)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func move(t *testing.T, to, from *fold.Table, rows []int) {
	t.Helper()
	if err := to.Merge(from.AppendRows(nil, rows)); err != nil {
		t.Fatal(err)
	}
}

// someComments returns rows with every kind of comment: with and without a sentiment, coarse and fine, on posts with a url, on posts
// without, and on unknown ones.
func someComments(r *rand.Rand, n int) (posts, comments []string) {
	link := func(id int) string { return fmt.Sprintf("/r/x/comments/p%d/", id) }
	for id := range n {
		posts = append(posts, link(id)+","+[]string{"", "http://x/" + strconv.Itoa(id)}[r.IntN(2)]+","+strconv.Itoa(r.IntN(100)))
	}
	for range 4 * n {
		body := []string{"a student of life", "nothing", "[deleted]"}[r.IntN(3)]
		mood := []string{"", "0.5", "0.25", "-1", "0.12345678901234567", "0.5000000000000001"}[r.IntN(6)]
		comments = append(comments, link(r.IntN(n+2))+","+body+","+mood)
	}
	return posts, comments
}

func TestPruneChangesNoAnswer(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := newSession(t)
		p, c := someComments(r, 1+r.IntN(20))
		s.add(t, posts, p...)
		s.add(t, comments, c...)
		want := s.answers(t)
		for _, partitions := range []int{1, 2, 5} {
			if got := cut(t, s, partitions, true).answers(t); got != want {
				t.Fatalf("seed %d, %d partitions:\n%s\nwant\n%s", seed, partitions, got, want)
			}
		}
	}
}

// TestPruneLeavesLittle: this is the purpose of prune.
func TestPruneLeavesLittle(t *testing.T) {
	s := newSession(t)
	var p, c []string
	for id := range 200 {
		link := fmt.Sprintf("/r/x/comments/p%d/", id)
		p = append(p, link+",http://x,1")
		body := "nothing"
		if id%50 == 0 {
			body = "my professor"
		}
		c = append(c, fmt.Sprintf("%s,%s,0.%d", link, body, id))
	}
	s.add(t, posts, p...)
	s.add(t, comments, c...)
	const partitions = 4
	left := cut(t, s, partitions, true)
	if n := left.Tables[students].Len(); n != 4 {
		t.Errorf("%d posts that students talk about, want 4", n)
	}
	if n := left.Tables[moods].Len(); n != partitions {
		t.Errorf("%d posts with a mood, want one of each of %d partitions", n, partitions)
	}
	if n := left.Tables[links].Len(); n > 4+partitions || n < 4 {
		t.Errorf("%d urls are left", n)
	}
	if whole := cut(t, s, partitions, false); whole.Tables[links].Len() != 200 {
		t.Error("the test cuts tables wrongly")
	}
}

func TestPruneReportsAMalformedPost(t *testing.T) {
	s := newSession(t)
	s.add(t, comments, "/r/x/comments/p/,nothing,0.5")
	s.Tables[links].PutMaxText(s.Tables[links].Row(s.Tables[links].Key().String("p")), 0, []byte{9})
	if err := prune(s.Args, comments, s.Tables); err == nil {
		t.Error("no error")
	}
}
