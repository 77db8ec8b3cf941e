package memesoracle

import (
	"math/big"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/test/oracle/oraclecsv"
)

type post struct {
	url   string
	score int64
}

// mood is a sum in two parts: of decimals and of float64.
type mood struct {
	units int64
	fine  *big.Float // nil if there are none
	n     int64
}

func (m *mood) add(sentiment string) {
	m.n++
	if units, ok := unitsOf(sentiment); ok {
		m.units += units
		return
	}
	if m.fine == nil {
		// 2200 bits hold any sum of float64 exactly.
		m.fine = new(big.Float).SetPrec(2200)
	}
	f, _ := strconv.ParseFloat(sentiment, 64)
	m.fine.Add(m.fine, new(big.Float).SetFloat64(f))
}

// unitsOf returns a decimal number in units of 1/10,000, if it is a whole number of them and not too large.
func unitsOf(s string) (int64, bool) {
	if digits := len(strings.Trim(s, "+-")) - strings.Count(s, "."); digits > 18 || strings.ContainsAny(s, "eE") {
		return 0, false
	}
	whole, fraction, _ := strings.Cut(s, ".")
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > 4 {
		return 0, false
	}
	units, err := strconv.ParseInt(whole+(fraction + "0000")[:4], 10, 64)
	return units, err == nil && -2_000_000_000 <= units && units <= 2_000_000_000
}

func (m *mood) mean() float64 {
	r := big.NewRat(m.units, 10_000)
	if m.fine != nil {
		fine, _ := m.fine.Rat(nil)
		r.Add(r, fine)
	}
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
	rejected, err := oraclecsv.ReadStreams(dir,
		oraclecsv.Stream{Name: "posts", File: "posts.csv", Columns: []string{"permalink", "url", "score"}, Row: o.post},
		oraclecsv.Stream{Name: "comments", File: "comments.csv", Columns: []string{"permalink", "body", "sentiment"}, Row: o.comment})
	if err != nil {
		return nil, err
	}
	return &answer.Answer{Analysis: "memes", Session: "oracle", Rejected: rejected,
		Queries: []answer.Query{o.average(), o.aboutStudents(), o.sentiment()}}, nil
}

var element = regexp.MustCompile(`^/comments/([^/?#]+)`)

func postOf(permalink string) (string, error) {
	if at := strings.Index(permalink, "/comments/"); at >= 0 {
		if m := element.FindStringSubmatch(permalink[at:]); m != nil {
			return m[1], nil
		}
	}
	return "", oraclecsv.Invalid("permalink", permalink, "a link with /comments/ and an id")
}

func (o *oracle) post(f []string) error {
	id, err := postOf(f[0])
	if err != nil {
		return err
	}
	score, err := oraclecsv.Integer("score", f[2])
	if err != nil {
		return err
	}
	if f[1] != "" {
		o.posts[id] = post{f[1], score}
	}
	o.scores.Add(o.scores, big.NewInt(score))
	o.rows++
	return nil
}

func (o *oracle) comment(f []string) error {
	id, err := postOf(f[0])
	if err != nil {
		return err
	}
	body, sentiment := f[1], f[2]
	if sentiment != "" {
		if _, err = oraclecsv.Number("sentiment", sentiment, "a number"); err != nil {
			return err
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
	if sentiment != "" {
		if o.moods[id] == nil {
			o.moods[id] = new(mood)
		}
		o.moods[id].add(sentiment)
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
		if ok && new(big.Rat).SetInt64(p.score).Cmp(o.mean()) > 0 {
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
		if !ok {
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
