package movies_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/movies"
	"posta.dev/posta/test/analysistest"
)

var heads = map[string]string{
	"movies_metadata.csv": "id,release_date,budget,revenue,title,overview,genres,production_countries\n",
	"ratings.csv":         "userId,movieId,rating,timestamp\n",
	"credits.csv":         "cast,crew,id\n",
}

// film returns a row of movies. Countries are given by name.
func film(id int, released, budget, revenue, title, overview string, countries ...string) string {
	var list []string
	for _, c := range countries {
		list = append(list, fmt.Sprintf("{'iso_3166_1': 'XX', 'name': '%s'}", c))
	}
	return fmt.Sprintf("%d,%s,%s,%s,%s,%s,\"[{'id': 18, 'name': 'Drama'}]\",\"[%s]\"\n", id, released, budget, revenue, title, overview,
		strings.Join(list, ", "))
}

// credit returns a row of credits. Members are given as "id name".
func credit(movie int, members ...string) string {
	var list []string
	for _, m := range members {
		id, name, _ := strings.Cut(m, " ")
		list = append(list, fmt.Sprintf("{'name': '%s', 'id': %s}", name, id))
	}
	return fmt.Sprintf("\"[%s]\",[],%d\n", strings.Join(list, ", "), movie)
}

func written(t *testing.T, films, ratings, credits string) string {
	t.Helper()
	files := analysistest.Files{"movies_metadata.csv": films, "ratings.csv": ratings, "credits.csv": credits}
	for name, rows := range files {
		files[name] = heads[name] + rows
	}
	return files.Write(t)
}

func expect(t *testing.T, a *answer.Answer, want map[string]string) {
	t.Helper()
	for query, w := range want {
		if got := analysistest.Rows(a, query, "|"); got != w {
			t.Errorf("%s: %s, want %s", query, got, w)
		}
	}
}

func TestTheFirstRowWins(t *testing.T) {
	dir := written(t,
		film(1, "2005-01-01", "10", "20", "First", "good", "Argentina", "Spain")+
			film(1, "2006-01-01", "70", "7000", "Second", "bad", "Japan")+
			film(2, "2005-01-01", "1", "1", "", "no title", "Argentina", "Spain")+
			film(2, "2005-01-01", "1", "1", "Valid", "x", "Argentina", "Spain")+
			film(3, "2005-01-01", "5", "0", "Of Japan", "bad", "Japan")+
			film(3, "2005-01-01", "5", "5", "Of Argentina", "good", "Argentina"),
		"1,1,4.0,0\n1,2,2,0\n1,3,5,0\n1,4,5,0\n", credit(1, "7 A")+credit(3, "7 A"))
	expect(t, subject.Both(t, dir, nil), map[string]string{
		"coproductions": "1 First Drama|2 Valid Drama",
		"budgets":       "Japan 5",
		"ratings":       "best 1 First 4 1|worst 2 Valid 2 1",
		"actors":        "A 1",
		"sentiment":     "POSITIVE 2 1",
	})
}

func TestYearsHaveBothEnds(t *testing.T) {
	films := ""
	for i, day := range []string{"1999-12-31", "2000-01-01", "2009-12-31", "2010-01-01", "1969-07-20", "9999-12-31"} {
		films += film(i+1, day, "0", "0", "T", "x", "Spain", "Argentina", "France")
	}
	ratings, credits := "", ""
	for id := range 7 {
		ratings += fmt.Sprintf("1,%d,%d,0\n", id, id)
		credits += credit(id, "1 A", fmt.Sprint(id+10, " B"))
	}
	expect(t, subject.Both(t, written(t, films, ratings, credits), nil), map[string]string{
		"coproductions": "2 T Drama|3 T Drama",
		"budgets":       "",
		"ratings":       "best 6 T 6 1|worst 2 T 2 1",
		"actors":        "A 4|B 1|B 1|B 1|B 1",
		"sentiment":     "",
	})
}

func TestTiesOfRatingsGoToTheLowestID(t *testing.T) {
	films, ratings := "", ""
	for _, id := range []int{9, -4, 5, 30, 7} {
		films += film(id, "2001-01-01", "0", "0", "T", "x", "Argentina")
		ratings += fmt.Sprintf("1,%d,%d.0,0\n1,%d,%d,0\n", id, 1+id%2*id%2*2, id, 3)
	}
	ratings += "1,30,0.1,0\n1,30,0.2,0\n1,-4,0.3,0\n1,-4,0,0\n"
	dir := written(t, films, ratings, credit(1))
	a := subject.Both(t, dir, nil)
	if got := a.Query("ratings").Rows; len(got) != 2 || got[0][1] != int64(5) || got[1][1] != int64(-4) {
		t.Errorf("%v", got)
	}
	expect(t, subject.Both(t, written(t, films, "", ""), nil), map[string]string{"ratings": "", "actors": ""})
}

func TestPeopleAreTheirIDs(t *testing.T) {
	films := ""
	for id := 1; id <= 4; id++ {
		films += film(id, "2001-01-01", "0", "0", "T", "x", "Argentina")
	}
	films += film(5, "2001-01-01", "0", "0", "T", "x", "Peru")
	dir := written(t, films, "", credit(1, "1 Zoe", "2 Ana", "1 Zoe", "3 Ana")+credit(1, "1 Zoe", "3 Ana")+credit(2, "1 Abe", "2 Ana")+
		credit(3, "3 Ana", "4 Late")+credit(4, "4 Late")+credit(5, "4 Late", "9 Nobody")+credit(6, "4 Late")+credit(4))
	expect(t, subject.Both(t, dir, nil), map[string]string{"actors": "Abe 2|Ana 2|Ana 2|Late 2"})
	expect(t, subject.Both(t, dir, map[string]string{"top_actors": "2"}), map[string]string{"actors": "Abe 2|Ana 2"})
}

func TestBudgetsAreExact(t *testing.T) {
	dir := written(t, film(1, "2001-01-01", "0.1", "0", "T", "x", "A")+film(2, "2001-01-01", "0.2", "0", "T", "x", "A")+
		film(3, "2001-01-01", "0.3", "0", "T", "x", "B")+film(4, "2001-01-01", "1e300", "0", "T", "x", "C")+
		film(5, "2001-01-01", "-1e300", "0", "T", "x", "C")+film(6, "2001-01-01", "2", "0", "T", "x", "C")+
		film(7, "2001-01-01", "2.0", "0", "T", "x", "A B")+film(8, "2001-01-01", "9", "0", "T", "x", "A", "B")+
		film(9, "2001-01-01", "9", "0", "T", "x")+film(10, "2001-01-01", "-5", "0", "T", "x", "D")+
		film(11, "2001-01-01", "0", "0", "T", "x", "E"), "", "")
	expect(t, subject.Both(t, dir, nil), map[string]string{"budgets": "A B 2|C 2|A 0.30000000000000004|B 0.3|E 0"})
	if v := subject.Both(t, dir, map[string]string{"top_countries": "1"}).Query("budgets").Rows[0][1]; v != int64(2) {
		t.Errorf("a whole sum is shown as %T", v)
	}
}

func TestABudgetBeyondNumbersIsAnError(t *testing.T) {
	dir := written(t, film(1, "2001-01-01", "1.7e308", "0", "T", "x", "A")+film(2, "2001-01-01", "1.7e308", "0", "T", "x", "A"), "", "")
	if _, err := local.Run(movies.New(), os.DirFS(dir), local.Options{}); err == nil || !strings.Contains(err.Error(), "budgets") {
		t.Error(err)
	}
}

func TestSentimentNeedsBudgetAndRevenue(t *testing.T) {
	dir := written(t, film(1, "1970-01-01", "2", "5", "T", "a great hero", "A")+film(2, "1970-01-01", "0", "5", "T", "a great hero", "A")+
		film(3, "1970-01-01", "5", "0", "T", "murder", "A")+film(4, "1970-01-01", "-2", "-5", "T", "murder", "A")+
		film(5, "1970-01-01", "4", "2", "T", "murder", "A")+film(6, "1970-01-01", "3", "2", "T", "murder", "B")+
		film(7, "1970-01-01", "3", "3", "T", "a table", "B")+film(8, "1970-01-01", "1e300", "1e-300", "T", "murder", "B")+
		film(9, "1970-01-01", "1e-300", "1e300", "T", "murder", "B"), "", "")
	a := subject.Both(t, dir, nil)
	expect(t, a, map[string]string{"sentiment": "NEGATIVE 0.3888888888888889 3|POSITIVE 2.5 1"})
	if r := a.Rejected[0]; r.Rows != 1 || r.First[0].Reason != "revenue / budget is too large" {
		t.Errorf("%+v", r)
	}
}

func TestRejectedRowsSayWhy(t *testing.T) {
	good := "1,2001-01-01,1,1,T,x,[],[]\n"
	var films strings.Builder
	reasons := []string{}
	for row, why := range map[string]string{
		"1.0,2001-01-01,1,1,T,x,[],[]":                       `id "1.0" is not an integer`,
		"1997-08-20,2001-01-01,1,1,T,x,[],[]":                `id "1997-08-20" is not an integer`,
		"1,2001-1-1,1,1,T,x,[],[]":                           `release_date "2001-1-1" is not a date YYYY-MM-DD`,
		"1,,1,1,T,x,[],[]":                                   `release_date is empty`,
		"1,2001-01-01,/x.jpg,1,T,x,[],[]":                    `budget "/x.jpg" is not a number`,
		"1,2001-01-01,1,,T,x,[],[]":                          `revenue is empty`,
		"1,2001-01-01,1,1,,x,[],[]":                          `title is empty`,
		"1,2001-01-01,1,1,T,,[],[]":                          `overview is empty`,
		"1,2001-01-01,1,1,T,x,,[]":                           `genres is empty`,
		"1,2001-01-01,1,1,T,x,False,[]":                      `genres is not a list`,
		"1,2001-01-01,1,1,T,x,[],{}":                         `production_countries is not a list`,
		"1,2001-01-01,1,1,T,x,[1],[]":                        `genres: element 1 has no name`,
		`1,2001-01-01,1,1,T,x,"[{'name': 'a', 'x': 1]",[]`:   `genres: no Python literal: expected , or } at offset 21`,
		`1,2001-01-01,1,1,T,x,[],"[{'name': 'a'}, [{}]]"`:    `production_countries: element 2 has no name`,
		`1,2001-01-01,1,1,T,x,[],"[{'name': None}, {'id'}]"`: `production_countries: no Python literal: expected : at offset 22`,
		"1,2001-01-01,1,1":                                   `row has 4 fields, and the header has 8`,
	} {
		dir := written(t, good+row+"\n"+good, "", "")
		if got := subject.Both(t, dir, nil).Rejected[0]; got.Rows != 1 || got.First[0].Reason != why || got.First[0].Line != 3 {
			t.Errorf("%s: %+v, want %s", row, got, why)
		}
		films.WriteString(row + "\n")
		reasons = append(reasons, why)
	}
	dir := written(t, films.String(), "1,1,x,0\n1,,4,0\n1,1\n",
		"[],[],1.5\n\"[{'name': 'a', 'id': '1'}]\",[],1\n\"[{'id': 1}]\",[],1\n7,[],1\n[,[],1\n,[],1\n[]\n")
	a := subject.Both(t, dir, nil)
	analysistest.ExpectRejected(t, a, len(reasons), 3, 7)
}

// TestDamagedFilesAreReadAsTheOracleReadsThem changes only bytes that have no meaning in CSV, because the oracle's reader has
// other rules for those that have one.
func TestDamagedFilesAreReadAsTheOracleReadsThem(t *testing.T) {
	dir := subject.Generated(t, 1500, 11)
	r := rand.New(rand.NewPCG(11, 1))
	const others = "0a'[]{}:\\ -.\x00\xff#T"
	for _, name := range []string{"movies_metadata.csv", "ratings.csv", "credits.csv"} {
		path := filepath.Join(dir, name)
		p, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		from := strings.IndexByte(string(p), '\n') + 1
		for range len(p) / 400 {
			if i := from + r.IntN(len(p)-from); !strings.ContainsRune("\",\r\n", rune(p[i])) {
				p[i] = others[r.IntN(len(others))]
			}
		}
		if err := os.WriteFile(path, p, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := subject.Want(t, dir, nil)
	for _, rejected := range want.Rejected {
		if rejected.Rows < 20 {
			t.Errorf("%s has %d rejected rows, which proves little", rejected.Stream, rejected.Rows)
		}
	}
	for seed := uint64(0); seed < 3; seed++ {
		analysistest.Same(t, "damaged", subject.Run(t, dir, local.Options{Seed: seed, Joiners: 2, Aggregators: 2, ChunkBytes: 4000}), want)
	}
}

// TestTornFilesHaveOneAnswer: for any bytes, the answer does not depend on how they are cut.
func TestTornFilesHaveOneAnswer(t *testing.T) {
	dir := subject.Generated(t, 800, 12)
	path := filepath.Join(dir, "credits.csv")
	p, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(12, 1))
	for range 20 {
		torn := append([]byte(nil), p[:len(p)-r.IntN(len(p)/2)]...)
		for range 10 {
			torn[20+r.IntN(len(torn)-20)] = "\",\r\n'"[r.IntN(5)]
		}
		if err := os.WriteFile(path, torn, 0o644); err != nil {
			t.Fatal(err)
		}
		want := subject.Run(t, dir, local.Options{})
		analysistest.Same(t, "torn", subject.Run(t, dir, local.Options{Seed: 1, Joiners: 3, ChunkBytes: 1 << 12}), want)
	}
}

func TestParametersAreChecked(t *testing.T) {
	analysistest.BadParams(t, movies.New(), map[string][]string{
		"country":       {""},
		"partner":       {""},
		"top_countries": {"", "0", "-1", "1.5", "100001", "x"},
		"top_actors":    {"", "0", "99999999999999999999"},
	})
	analysistest.BadArgs(t, movies.New(), []analyses.Args{nil, {"A"}, {"A", "B", "0", "1"}})
}
