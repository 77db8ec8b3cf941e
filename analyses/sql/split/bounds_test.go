package split

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// doublings returns statements with many names, each of which uses the one before it twice. As trees they would have more nodes than
// there are atoms.
func doublings(n int) (texts []string) {
	for _, body := range []string{
		"SELECT a.x FROM @ AS a JOIN @ AS b ON a.x = b.x",
		"SELECT a.x FROM @ AS a, @ AS b WHERE a.x = b.x",
		"SELECT a.x FROM @ AS a LEFT JOIN @ AS b ON a.x = b.x",
		"SELECT x FROM @ UNION ALL SELECT x FROM @",
		"SELECT x FROM @ WHERE x > (SELECT max(x) FROM @)",
		"SELECT x FROM @ WHERE x IN (SELECT x FROM @)",
		"SELECT a.x FROM @ AS a WHERE EXISTS (SELECT 1 FROM @ AS b WHERE b.x = a.x)",
		"SELECT count(*) AS x FROM @ AS a FULL JOIN @ AS b USING (x)",
		"SELECT x + x AS x FROM @",
		"SELECT a.x + b.x AS x FROM (SELECT x FROM @) AS a, (SELECT x FROM @) AS b",
	} {
		var b strings.Builder
		b.WriteString("WITH w0 AS (SELECT x FROM t)")
		for i := range n {
			fmt.Fprintf(&b, ", w%d AS (%s)", i+1, strings.ReplaceAll(body, "@", fmt.Sprintf("w%d", i)))
		}
		texts = append(texts, b.String()+fmt.Sprintf(" SELECT * FROM w%d", n))
		b.Reset()
		b.WriteString("CREATE VIEW w0 AS SELECT x FROM t;")
		for i := range n {
			fmt.Fprintf(&b, "CREATE VIEW w%d AS %s;", i+1, strings.ReplaceAll(body, "@", fmt.Sprintf("w%d", i)))
		}
		texts = append(texts, b.String()+fmt.Sprintf(" SELECT * FROM w%d", n))
	}
	return texts
}

// TestQ1_PlansCostBoundedTime: the work on a plan is bounded by its size, even if names use each other many times. Otherwise the test does
// not end.
func TestQ1_PlansCostBoundedTime(t *testing.T) {
	files := fstest.MapFS{"t.csv": {Data: []byte("x,y\n1,2\n")}}
	for _, text := range doublings(40) {
		views := strings.HasPrefix(text, "CREATE VIEW")
		if views {
			text += ";" + text[strings.LastIndex(text, "SELECT * FROM"):]
		}
		if len(text) > syntax.MaxText {
			t.Fatal("the text is too long for the test")
		}
		for _, size := range []func(*Plan) *Plan{func(p *Plan) *Plan { return p }, func(p *Plan) *Plan { return small(p, files) }, large} {
			p := size(planOf(t, text, files))
			if _, err := Analysis(p); err != nil {
				t.Errorf("%.200s…: %v", text, err)
			}
			p.Head()
			if _, err := Explain(p); err != nil {
				t.Errorf("%.200s…: %v", text, err)
			}
			if views {
				p.Also = []Part{{Statement: 1}}
				if _, err := Analysis(p); err != nil && !errors.Is(err, ErrApart) {
					t.Errorf("%.200s…, twice: %v", text, err)
				}
			}
		}
	}
}

// FuzzPlan: any bytes, a plan or not, give an error or an analysis that passes its check.
func FuzzPlan(f *testing.F) {
	f.Add(encoded(f, anyPlan()))
	for _, p := range []*Plan{
		{Text: "SELECT count(*) FROM trips WHERE km > (SELECT avg(km) FROM trips)", Answers: [][]string{{}}, Tables: anyPlan().Tables},
		{Text: "SELECT count(*) FROM trips; SELECT city FROM trips", Also: []Part{{Statement: 1}}, Tables: anyPlan().Tables},
		{Text: "SELECT count(*) FROM trips WHERE km IN (SELECT km FROM trips WHERE EXISTS (SELECT 1 FROM trips))", Pass: 2,
			Answers: [][]string{nil, {}}, Tables: anyPlan().Tables},
	} {
		f.Add(encoded(f, p))
	}
	for _, text := range doublings(3) {
		f.Add(encoded(f, &Plan{Text: text, Tables: []catalog.Table{{Name: "t", Files: "t.csv", Bytes: 100, Rows: 3,
			Columns: []catalog.Column{{Name: "x", Type: types.Of(types.BigInt)}}}}}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Decode(b)
		if err != nil {
			if !errors.Is(err, ErrPlan) {
				t.Errorf("an error of another kind: %v", err)
			}
			return
		}
		if again, err := Decode(p.Encode()); err != nil || !reflect.DeepEqual(p, again) {
			t.Errorf("a plan changes when it travels: %+v, %+v, %v", p, again, err)
		}
		a, err := p.Analysis()
		if err != nil {
			return
		}
		if err := a.Check(); err != nil {
			t.Errorf("an analysis that fails its check: %v", err)
		}
		if _, err := a.NewJoiner(analyses.Args{}, analyses.Replica{Of: 1}); err != nil {
			t.Log(err)
		}
	})
}
