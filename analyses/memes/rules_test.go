package memes_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/memes"
	"posta.dev/posta/test/analysistest"
)

const (
	postsHead    = "id,permalink,score,url\n"
	commentsHead = "sentiment,permalink,body\n"
)

func written(t *testing.T, posts, comments string) string {
	t.Helper()
	return analysistest.Files{"posts.csv": postsHead + posts, "comments.csv": commentsHead + comments}.Write(t)
}

func TestStudentsArePostsWithAURLAboveTheMean(t *testing.T) {
	a := subject.Both(t, written(t,
		"1,/comments/a/,10,u/a\n2,/comments/b/,10,\n3,/comments/c/,4,u/c\n4,/comments/d/,10,u/d\n5,/comments/e/,-14,u/e\n6,/comments/f/,4,u/f\n",
		",/comments/d/,no\n,/comments/d/,the COLLEGES\n0.5,/comments/a/,Professor!\n,/comments/a/,a student and a teacher\n"+
			",/comments/b/,student\n,/comments/c/,student\n,/comments/z/,student\n,/comments/f/,[removed]\n"), nil)
	analysistest.Expect(t, a, "average", "4 6")
	analysistest.Expect(t, a, "students", "a u/a 10\nd u/d 10")
}

// TestScoresAreComparedWithTheirMeanExactly: the mean is below the largest score, but by less than a float64 can show.
func TestScoresAreComparedWithTheirMeanExactly(t *testing.T) {
	a := subject.Both(t, written(t,
		"1,/comments/a,9223372036854775807,u\n2,/comments/b,9223372036854775806,u\n3,/comments/c,9223372036854775806,u\n",
		",/comments/a,student\n,/comments/b,student\n"), nil)
	analysistest.Expect(t, a, "average", "9.223372036854776e+18 3")
	analysistest.Expect(t, a, "students", "a u 9223372036854775807")
	a = subject.Both(t, written(t, "1,/comments/a,-9223372036854775808,u\n2,/comments/b,-9223372036854775807,u\n",
		",/comments/a,student\n,/comments/b,student\n"), nil)
	analysistest.Expect(t, a, "students", "b u -9223372036854775807")
}

func TestTheLastRowOfAPostWithAURLWins(t *testing.T) {
	a := subject.Both(t, written(t,
		"1,/comments/a/,100,old\n2,/comments/b/,0,u/b\n3,/comments/a/,200,new\n4,/comments/c/,300,u/c\n5,/comments/c/,400,\n6,/comments/b/,0,"+
			"u/b\n",
		"1,/comments/a/,student\n2,/comments/c/,student\n"), nil)
	analysistest.Expect(t, a, "average", fmt.Sprint(1000/6.0, " 6"))
	analysistest.Expect(t, a, "students", "a new 200\nc u/c 300")
	analysistest.Expect(t, a, "sentiment", "c u/c 2 1")
}

func TestTiesOfSentimentHaveAnOrder(t *testing.T) {
	posts := "1,/comments/a/,1,u/a\n2,/comments/b/,1,u/b\n3,/comments/c/,1,u/c\n4,/comments/d/,1,\n5,/comments/0/,1,u/0\n"
	a := subject.Both(t, written(t, posts, "0.2,/comments/c/,x\n0.2,/comments/0/,x\n.20,/comments/b/,x\n"), nil)
	analysistest.Expect(t, a, "sentiment", "0 u/0 0.2 1")
	a = subject.Both(t, written(t, posts,
		"0.2,/comments/0/,x\n0.1,/comments/c/,x\n0.2,/comments/c/,x\n0.3,/comments/c/,x\n0.3,/comments/b/,x\n0.2,/comments/b/,x\n"+
			"1e-1,/comments/b/,x\n9,/comments/d/,x\n9,/comments/e/,x\n9,/comments/a/,[deleted]\n9,/comments/a/,\n,/comments/a/,x\n"), nil)
	analysistest.Expect(t, a, "sentiment", "b u/b 0.2 3")
	a = subject.Both(t, written(t, posts, "-1e308,/comments/a/,x\n-1e308,/comments/a/,x\n-1.1e308,/comments/b/,x\n"), nil)
	analysistest.Expect(t, a, "sentiment", "a u/a -1e+308 2")
	a = subject.Both(t, written(t, posts, "5e-324,/comments/a/,x\n1e-323,/comments/a/,x\n1e-323,/comments/a/,x\n5e-324,/comments/b/,x\n"), nil)
	analysistest.Expect(t, a, "sentiment", "a u/a 1e-323 3")
}

func TestWhatAPermalinkSays(t *testing.T) {
	a := subject.Both(t, written(t,
		"1,https://x/r/y/comments/abc/title/,9,u1\n2,/comments/abd,0,u2\n3,/comments/abe?x=/comments/no,0,u3\n4,/comments/abf#/,0,u4\n"+
			"5,/r/comments/comments/abg/,0,u5\n6,/comments/é x/,0,u6\n",
		"0.1,/comments/abc/title/id/,x\n0.2,/comments/abd#c,x\n0.3,/comments/abe,x\n0.4,/comments/abf,x\n0.5,/comments/comments/z,x\n0.45,"+
			"/comments/é x,x\n"), nil)
	analysistest.Expect(t, a, "sentiment", "comments u5 0.5 1")
}

func TestN7_WhichRowsAreRejected(t *testing.T) {
	a := subject.Both(t, written(t, ""+
		"1,/comments/a/,1,\n1,/comments/a/,+1,\n1,/comments/a/,-1,\n1,/comments/a/,9223372036854775807,\n"+
		"1,,1,u\n1,/comment/a/,1,u\n1,/comments/,1,u\n1,/comments//,1,u\n1,/comments/?x,1,u\n1,comments/a,1,u\n"+
		"1,/comments/a/,,u\n1,/comments/a/,1.0,u\n1,/comments/a/,x,u\n1,/comments/a/,9223372036854775808,u\n1,/comments/a/,1\n",
		",/comments/a/,\n0,/comments/a/,x\n-.5e+1,/comments/a/,x\n12345678901234567890,/comments/a/,x\n"+
			"x,/comments/a/,x\nNaN,/comments/a/,x\nInf,/comments/a/,x\n1e999,/comments/a/,x\n0x1,/comments/a/,x\n "+
			"1,/comments/a/,x\nx,/comments/a/,[deleted]\n"+
			"1,/a/,x\n1,,x\n1,/comments/a\n"), nil)
	analysistest.ExpectRejected(t, a, 11, 10)
	if got := a.Rejected[0].First[9]; got.Line != 15 || got.File != "posts.csv" ||
		got.Reason != `score "9223372036854775808" is not an integer` {
		t.Errorf("%+v", got)
	}
	analysistest.Expect(t, a, "average", "2.305843009213694e+18 4")
}

func TestWithoutPostsThereIsNoMean(t *testing.T) {
	a := subject.Both(t, written(t, "", "1,/comments/a/,student\n"), nil)
	for _, q := range a.Queries {
		analysistest.Expect(t, a, q.Name, "")
	}
}

func TestDamagedFiles(t *testing.T) {
	post, comment := "1,/comments/a/,10,u\n", "0.5,/comments/a/,a student\n"
	analysistest.Damage(t, memes.New(), analysistest.Files{
		"posts.csv":    postsHead + post + "2,/comments/b/,3,u\n3,/comments/c/,3,\n",
		"comments.csv": commentsHead + comment + "0.25,/comments/b/,\"in\ntwo, lines\"\n",
	}, map[string][]string{
		"posts":    {strings.Replace(post, "10", "ten", 1), strings.Replace(post, "comments", "x", 1), strings.ReplaceAll(post, ",", ";")},
		"comments": {strings.Replace(comment, "0.5", "good", 1), strings.Replace(comment, "/a", "", 1), strings.ReplaceAll(comment, ",", "\t")},
	})
}

func TestParametersAreChecked(t *testing.T) {
	analysistest.BadParams(t, memes.New(), map[string][]string{
		"words": {"", ",", "a,,b", "a, ,b", "\xff", strings.Repeat("a,", 100) + "a", strings.Repeat("a", 201)},
	})
	bad := []analyses.Args{nil, {""}, {"a", "b"}}
	analysistest.BadArgs(t, memes.New(), bad)
	for _, args := range bad {
		if _, err := memes.New().NewParser(args, 1, analyses.File{}, nil); !errors.Is(err, analyses.ErrBadParam) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
