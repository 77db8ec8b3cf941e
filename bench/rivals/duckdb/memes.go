package main

import (
	"fmt"
	"math/big"
	"strings"
	"unicode"

	"posta.dev/posta/analyses/answer"
)

// memes reads the comments once and folds them by post as they come. One regular expression finds the words. Rejected: lower
// case and a search for each of five words takes twice the CPU time.
func memes(e *engine) ([]answer.Query, error) {
	err := e.views(
		table{"posts", "posts.csv", ',', columns{{"permalink", "VARCHAR"}, {"url", "VARCHAR"}, {"score", "VARCHAR"}}},
		table{"comments", "comments.csv", ',', columns{{"permalink", "VARCHAR"}, {"body", "VARCHAR"}, {"sentiment", "DOUBLE"}}},
	)
	for _, s := range []struct{ what, text string }{
		{"macros", exactMacros + memesMacros}, {"posts", memesPosts}, {"pictures", memesPictures},
		{"comments", fmt.Sprintf(memesComments, anyCase("university", "college", "student", "teacher", "professor"))},
	} {
		if err == nil {
			err = e.exec(s.what, s.text)
		}
	}
	average := answer.Query{Name: "average", Columns: []string{"average_score", "posts"}}
	if err == nil {
		err = e.rows("average", memesAverage, func(scan func(...any) error) error {
			var total *big.Int
			var n int64
			err := scan(&total, &n)
			if err == nil {
				mean, _ := new(big.Rat).SetFrac(total, big.NewInt(n)).Float64()
				average.Rows = append(average.Rows, []any{mean, n})
			}
			return err
		})
	}
	students := answer.Query{Name: "students", Columns: []string{"post_id", "url", "score"}}
	if err == nil {
		err = e.rows("students", memesStudents, func(scan func(...any) error) error {
			var id, url string
			var score int64
			err := scan(&id, &url, &score)
			students.Rows = append(students.Rows, []any{id, url, score})
			return err
		})
	}
	sentiment := answer.Query{Name: "sentiment", Columns: []string{"post_id", "url", "average_sentiment", "comments"}}
	if err == nil {
		err = e.rows("sentiment", memesSentiment, func(scan func(...any) error) error {
			var p feeling
			if err := scan(&p.id, &p.url, &p.units, &p.fine.whole, &p.fine.part, &p.n); err != nil {
				return err
			}
			p.mean = p.exactly()
			if row := []any{p.id, p.url, p.mean, p.n}; sentiment.Rows == nil || p.before(sentiment.Rows[0]) {
				sentiment.Rows = [][]any{row}
			}
			return nil
		})
	}
	return []answer.Query{average, students, sentiment}, err
}

// feeling holds the sentiments of a post's comments: decimals of up to four places as whole numbers of 1/10,000, others as
// doubles.
type feeling struct {
	id, url string
	units   *big.Int
	fine    sum
	n       int64
	mean    float64
}

func (p *feeling) exactly() float64 {
	r := new(big.Rat).SetFrac(p.units, big.NewInt(10_000))
	r.Add(r, p.fine.rat())
	f, _ := r.Quo(r, new(big.Rat).SetInt64(p.n)).Float64()
	return f
}

// before orders posts: the highest mean first, then the most comments, then the smallest id.
func (p *feeling) before(best []any) bool {
	switch mean, n := best[2].(float64), best[3].(int64); {
	case p.mean != mean:
		return p.mean > mean
	case p.n != n:
		return p.n > n
	}
	return p.id < best[0].(string)
}

// anyCase returns a regular expression for any of the words, in any case as Go's and Python's lower() define it. RE2's own folding
// accepts ſ for s, and not İ for i.
func anyCase(words ...string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte('|')
		}
		for _, r := range w {
			fmt.Fprintf(&b, "[%c%c", r, unicode.ToUpper(r))
			switch r {
			case 'i':
				b.WriteRune('İ')
			case 'k':
				b.WriteRune('\u212a') // the Kelvin sign
			}
			b.WriteByte(']')
		}
	}
	return b.String()
}

const (
	// The element after /comments/, up to a slash, question mark or hash.
	memesMacros = `
		CREATE TEMP MACRO element(text) AS split_part(split_part(text, '/comments/', 2), '/', 1);
		CREATE TEMP MACRO post_of(text) AS
			CASE WHEN contains(text, '?') OR contains(text, '#')
			THEN split_part(split_part(element(text), '?', 1), '#', 1) ELSE element(text) END;`

	memesPosts = `CREATE TEMP TABLE post AS
		SELECT post_of(permalink) AS id, url, TRY_CAST(score AS BIGINT) AS score, n
		FROM (SELECT *, row_number() OVER () AS n FROM posts)
		WHERE id <> '' AND regexp_full_match(score, '[+-]?\d+') AND TRY_CAST(score AS BIGINT) IS NOT NULL`

	// If a post has several rows with a url, the last one counts.
	memesPictures = `CREATE TEMP TABLE picture AS
		SELECT id, latest.url AS url, latest.score AS score
		FROM (SELECT id, arg_max({url: url, score: score}, n) AS latest FROM post WHERE url IS NOT NULL GROUP BY id)`

	memesComments = `CREATE TEMP TABLE feeling AS
		WITH given AS (
			SELECT post_of(permalink) AS id, body, sentiment, round(sentiment * 10000) AS units,
				abs(sentiment) <= 200000 AND units / 10000 = sentiment AS decimal
			FROM comments
			WHERE id <> '' AND body NOT IN ('[deleted]', '[removed]') AND coalesce(isfinite(sentiment), true))
		SELECT id, bool_or(regexp_matches(body, '%s')) AS students, count(sentiment) AS n,
			coalesce(sum(CASE WHEN decimal THEN units::BIGINT END), 0) AS units,
			coalesce(sum(CASE WHEN NOT decimal THEN whole(sentiment) END), 0) AS whole,
			coalesce(sum(CASE WHEN NOT decimal THEN part(sentiment) END), 0) AS part
		FROM given GROUP BY id`

	memesAverage = `SELECT sum(score), count(*) FROM post HAVING count(*) > 0`

	memesStudents = `WITH mean AS (SELECT sum(score) AS sum, count(*) AS n FROM post)
		SELECT p.id, url, score FROM picture p JOIN feeling f ON p.id = f.id
		WHERE students AND score * (SELECT n FROM mean)::HUGEINT > (SELECT sum FROM mean) ORDER BY p.id`

	// The posts that may be the happiest, as far as doubles can tell.
	memesSentiment = `
		WITH means AS (
			SELECT p.id, url, units, whole, part, n,
				(units / 10000 + whole / 1048576 + part / 1329227995784915872903807060280344576) / n AS mean
			FROM picture p JOIN feeling f ON p.id = f.id WHERE n > 0)
		SELECT id, url, units, whole, part, n FROM means WHERE mean >= (SELECT max(mean) FROM means) - 1e-9`
)
