package memesoracle

import (
	"fmt"
	"math/big"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"posta/analyses/answer"
	"posta/analyses/oraclecsv"
)

type post struct {
	url   string
	score int64
}

type mood struct {
	sum *big.Float
	n   int64
}

func (m *mood) mean() float64 {
	r, _ := m.sum.Rat(nil)
	f, _ := r.Quo(r, new(big.Rat).SetInt64(m.n)).Float64()
	return f
}

type oracle struct {
	words    []string
	posts    map[string]post
	scores   *big.Int
	rows     int64
	students map[string]bool
	moods    map[string]*mood
}

// Run answers the queries over dir/posts.csv and dir/comments.csv. Params that are not given have their defaults.
func Run(dir string, params map[string]string) (*answer.Answer, error) {
	words, ok := params["words"]
	if !ok {
		words = "university,college,student,teacher,professor"
	}
	o := &oracle{posts: map[string]post{}, scores: new(big.Int), students: map[string]bool{}, moods: map[string]*mood{}}
	for _, w := range strings.Split(words, ",") {
		o.words = append(o.words, strings.ToLower(strings.TrimSpace(w)))
	}
	ans := &answer.Answer{Analysis: "memes", Session: "oracle"}
	for _, s := range []struct {
		stream  string
		columns []string
		row     func(f []string) error
	}{
		{"posts", []string{"permalink", "url", "score"}, o.post},
		{"comments", []string{"permalink", "body", "sentiment"}, o.comment},
	} {
		rejected := answer.Rejected{Stream: s.stream}
		file := s.stream + ".csv"
		if err := oraclecsv.Read(filepath.Join(dir, file), file, ',', s.columns, &rejected.Rejects, s.row); err != nil {
			return nil, fmt.Errorf("oracle: %w", err)
		}
		ans.Rejected = append(ans.Rejected, rejected)
	}
	ans.Queries = []answer.Query{o.average(), o.aboutStudents(), o.sentiment()}
	return ans, nil
}

var (
	decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	element = regexp.MustCompile(`^/comments/([^/?#]+)`)
)

func invalid(column, s, want string) error {
	if s == "" {
		return fmt.Errorf("%s is empty", column)
	}
	if len(s) > 40 {
		s = s[:40]
	}
	return fmt.Errorf("%s %q is no %s", column, s, want)
}

func postOf(permalink string) (string, error) {
	if at := strings.Index(permalink, "/comments/"); at >= 0 {
		if m := element.FindStringSubmatch(permalink[at:]); m != nil {
			return m[1], nil
		}
	}
	return "", invalid("permalink", permalink, "link with /comments/ and an id")
}

func (o *oracle) post(f []string) error {
	id, err := postOf(f[0])
	if err != nil {
		return err
	}
	score, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return invalid("score", f[2], "integer")
	}
	o.posts[id] = post{f[1], score}
	o.scores.Add(o.scores, big.NewInt(score))
	o.rows++
	return nil
}

func (o *oracle) comment(f []string) error {
	id, err := postOf(f[0])
	if err != nil {
		return err
	}
	body, sentiment := f[1], 0.0
	if f[2] != "" {
		if sentiment, err = strconv.ParseFloat(f[2], 64); err != nil || !decimal.MatchString(f[2]) {
			return invalid("sentiment", f[2], "number")
		}
	}
	if body == "" || body == "[deleted]" || body == "[removed]" {
		return nil
	}
	body = strings.ToLower(body)
	for _, w := range o.words {
		if strings.Contains(body, w) {
			o.students[id] = true
		}
	}
	if f[2] != "" {
		m := o.moods[id]
		if m == nil {
			// 2200 bits hold any sum of float64 exactly.
			m = &mood{sum: new(big.Float).SetPrec(2200)}
			o.moods[id] = m
		}
		m.sum.Add(m.sum, new(big.Float).SetFloat64(sentiment))
		m.n++
	}
	return nil
}

func (o *oracle) mean() *big.Rat {
	return new(big.Rat).SetFrac(o.scores, big.NewInt(o.rows))
}

func (o *oracle) average() answer.Query {
	q := answer.Query{Name: "average", Columns: []string{"average_score", "posts"}}
	if o.rows > 0 {
		f, _ := o.mean().Float64()
		q.Rows = append(q.Rows, []any{f, o.rows})
	}
	return q
}

func (o *oracle) aboutStudents() answer.Query {
	q := answer.Query{Name: "students", Columns: []string{"post_id", "url", "score"}}
	var ids []string
	for id := range o.students {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	for _, id := range ids {
		p, ok := o.posts[id]
		if ok && p.url != "" && new(big.Rat).SetInt64(p.score).Cmp(o.mean()) > 0 {
			q.Rows = append(q.Rows, []any{id, p.url, p.score})
		}
	}
	return q
}

func (o *oracle) sentiment() answer.Query {
	q := answer.Query{Name: "sentiment", Columns: []string{"post_id", "url", "average_sentiment", "comments"}}
	var best []any
	for id, m := range o.moods {
		p, ok := o.posts[id]
		if !ok || p.url == "" {
			continue
		}
		mean := m.mean()
		if best != nil {
			switch b, n := best[2].(float64), best[3].(int64); {
			case mean < b, mean == b && m.n < n, mean == b && m.n == n && id > best[0].(string):
				continue
			}
		}
		best = []any{id, p.url, mean, m.n}
	}
	if best != nil {
		q.Rows = append(q.Rows, best)
	}
	return q
}
