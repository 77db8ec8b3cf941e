package split

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/infer"
)

// planOf makes a plan over files of a directory, whose tables are called like their files.
func planOf(t testing.TB, text string, files fstest.MapFS) *Plan {
	t.Helper()
	p := &Plan{Text: text}
	for name, f := range files {
		var tab infer.Table
		header, rest, _ := strings.Cut(string(f.Data), "\n")
		if err := tab.File(name, []byte(header)); err != nil {
			t.Fatal(err)
		}
		tab.Rows([]byte(header), []byte(rest))
		table := catalog.Table{Name: strings.TrimSuffix(name, ".csv"), Files: name}
		for _, c := range tab.Columns() {
			table.Columns = append(table.Columns, catalog.Column{Name: c.Name, Type: c.Type, Inferred: true})
		}
		p.Tables = append(p.Tables, table)
	}
	return p
}

// encoded returns the form in which a plan travels.
func encoded(t testing.TB, p *Plan) []byte {
	t.Helper()
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// answer runs a plan in this process and returns its rows as JSON.
func answer(t *testing.T, p *Plan, files fstest.MapFS, o local.Options) (string, error) {
	t.Helper()
	a, err := Analysis(p)
	if err != nil {
		return "", err
	}
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	ans, err := local.Run(a, files, o)
	if err != nil {
		return "", err
	}
	rows := ans.Queries[0].Rows
	if rows == nil {
		rows = [][]any{}
	}
	b, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), nil
}

var trips = fstest.MapFS{
	"trips.csv": {Data: []byte("id,city,start,duration,km,member\n" +
		"1,Montreal,2015-06-01 08:00:00,600,1.5,true\n2,Toronto,2015-06-01 09:00:00,1200,,false\n3,Montreal,2015-06-02 08:30:00,,2.25,true\n" +
		"4,\"\",2015-06-03 10:00:00,300,0.5,\n5,,2015-06-03 11:00:00,60,0.1,false\n6,Toronto,2015-06-04 12:00:00,1800,9.75,true\n")},
	"cities.csv": {Data: []byte("name,people\nMontreal,1700000\nToronto,2700000\nHalifax,400000\n")},
}

func TestStatements(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"SELECT city, count(*), sum(duration), avg(km) FROM trips WHERE duration > 100 GROUP BY city ORDER BY city",
			`[["",1,300,0.5],["Montreal",1,600,1.5],["Toronto",2,3000,9.75]]`},
		{"SELECT count(*), count(km), sum(km), min(city), max(start), bool_and(member) FROM trips",
			`[[6,5,14.1,"","2015-06-04 12:00:00",false]]`},
		{"SELECT count(*), sum(km) FROM trips WHERE id > 100", `[[0,null]]`},
		{"SELECT city, count(*) AS n FROM trips GROUP BY city HAVING count(*) > 1 ORDER BY n DESC, city LIMIT 1", `[["Montreal",2]]`},
		{"SELECT id, city FROM trips WHERE member ORDER BY duration DESC LIMIT 2", `[[6,"Toronto"],[1,"Montreal"]]`},
		{"SELECT id FROM trips LIMIT 2 OFFSET 1", `[[2],[3]]`},
		{"SELECT * FROM trips WHERE id = 5", `[[5,null,"2015-06-03 11:00:00",60,0.1,false]]`},
		{"SELECT _file, _line, id FROM trips WHERE id IN (2, 6)", `[["trips.csv",3,2],["trips.csv",7,6]]`},
		{"SELECT DISTINCT city FROM trips ORDER BY city", `[[""],["Montreal"],["Toronto"],[null]]`},
		{"SELECT count(DISTINCT city) FROM trips", `[[3]]`},
		{"SELECT city, first(id), last(id), any_value(km) FROM trips GROUP BY city ORDER BY city NULLS FIRST",
			`[[null,5,5,0.1],["",4,4,0.5],["Montreal",1,3,1.5],["Toronto",2,6,9.75]]`},
		{"SELECT count(*) FROM trips WHERE km > (SELECT avg(km) FROM trips)", `[[1]]`},
		{"SELECT id, duration * 2 AS twice FROM trips WHERE city = 'Toronto' ORDER BY twice", `[[2,2400],[6,3600]]`},
		{"SELECT n, sum(d) FROM (SELECT city AS n, duration + 1 AS d FROM trips WHERE km IS NOT NULL) GROUP BY n ORDER BY n",
			`[["",301],["Montreal",601],["Toronto",1801],[null,61]]`},
		{"SELECT sum(km) FILTER (WHERE member), count(*) FILTER (WHERE NOT member) FROM trips", `[[13.5,2]]`},
	} {
		p := planOf(t, c.text, trips)
		for seed := range uint64(4) {
			o := local.Options{Joiners: 1 + int(seed), Aggregators: 1 + int(seed), Seed: seed, ChunkBytes: 40}
			got, err := answer(t, p, trips, o)
			if err != nil || got != c.want {
				t.Errorf("%s\n   seed %d: got  %s, %v\n   want %s", c.text, seed, got, err, c.want)
				break
			}
		}
	}
}
