package split

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/rows/batch"
)

// small tells a plan how large its tables are, so that joiners get the small ones whole.
func small(p *Plan, files fstest.MapFS) *Plan {
	for i := range p.Tables {
		p.Tables[i].Bytes = int64(len(files[p.Tables[i].Files].Data))
	}
	return p
}

// someTables makes a table t and two smaller ones, with few distinct values, some of them NULL.
func someTables(r *rand.Rand) fstest.MapFS {
	files := fstest.MapFS{}
	for i, rows := range []int{20 + r.IntN(60), r.IntN(12), r.IntN(9)} {
		name := string("tuv"[i])
		var b strings.Builder
		fmt.Fprintf(&b, "%sk,%sn,%sx,%sc\n0,1,0.5,a\n", name, name, name, name)
		for range rows {
			k, c := fmt.Sprint(r.IntN(6)), string("abcd"[r.IntN(4)])
			if r.IntN(6) == 0 {
				k = ""
			}
			if r.IntN(8) == 0 {
				c = ""
			}
			fmt.Fprintf(&b, "%s,%d,%g,%s\n", k, r.IntN(30), float64(r.IntN(40))/4, c)
		}
		files[name+".csv"] = &fstest.MapFile{Data: []byte(b.String())}
	}
	return files
}

// TestBroadcastJoinsGiveWhatTheReducersJoinGives: a statement gives the same answer with and without reference streams, on any
// number of joiners.
func TestBroadcastJoinsGiveWhatTheReducersJoinGives(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	used := map[string]int{}
	for n := range 300 {
		join := func() string { return pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "JOIN", "LEFT JOIN") }
		on := func(a, b string) string {
			return " ON " + pick(a+"k = "+b+"k", a+"c = "+b+"c AND "+a+"k = "+b+"k", a+"k = "+b+"k AND "+a+"n < "+b+"n + 3", b+"n < "+a+"k") + " "
		}
		from := pick(
			"t "+join()+" u"+on("t", "u"),
			"u "+join()+" t"+on("u", "t"),
			"t "+join()+" u"+on("t", "u")+join()+" v"+on(pick("t", "u"), "v"),
			"u "+join()+" v"+on("u", "v")+join()+" t"+on(pick("u", "v"), "t"),
			"v "+join()+" t"+on("v", "t")+join()+" u"+on(pick("v", "t"), "u"),
			"t "+join()+" (SELECT uc, max(uk) AS uk, min(un) AS un FROM u GROUP BY uc) AS u"+on("t", "u"),
			"t "+pick("SEMI", "ANTI")+" JOIN u"+on("t", "u"),
			"(SELECT uk AS tk, un AS tn, uc AS tc FROM u "+pick("SEMI", "ANTI")+" JOIN t"+on("u", "t")+") AS t",
			"t CROSS JOIN u",
			"t, u, v WHERE tk = uk AND uc = vc AND ",
			"v, u, t WHERE tk = uk AND vn < un AND ",
			"u JOIN v ON uc = vc JOIN t ON tk = vk LEFT JOIN (SELECT uk AS ak, un AS an FROM u, v WHERE uk = vk) ON ak = tk",
			"u, v, (SELECT tk, tn, tc, tb.uk AS bk FROM t JOIN u AS tb ON tk = tb.uk) WHERE u.uk = bk AND vk = tk AND u.uc = vc AND ",
			"(SELECT ta.tk, tb.tn, ta.tc FROM t AS ta JOIN t AS tb ON ta.tk = tb.tn) AS t "+join()+" u"+on("t", "u"),
			"t "+join()+" (SELECT * FROM u WHERE "+pick("un < 9", "uc = 'a'", "uk > 1 AND uc IN ('b', 'c')",
				"uk < 3 AND un + uk < 20")+") AS u"+on("t", "u"),
			"t "+join()+" (SELECT * FROM u WHERE un < 9) AS u"+on("t",
				"u")+join()+" (SELECT uk AS vk, un AS vn, uc AS vc FROM u WHERE uk > 2) AS v"+on("t", "v"),
			"t JOIN u"+on("t", "u")+"WHERE "+pick("un < 9", "uc = 'a'", "uk > 1 AND un > 2")+" AND ",
		)
		where := pick("", "", " WHERE tn > 7", " WHERE tn > (SELECT avg(un) FROM u)", " WHERE tk IN (SELECT vk FROM v WHERE vn < 9)",
			" WHERE tk NOT IN (SELECT uk FROM u WHERE uk IS NOT NULL)", " WHERE EXISTS (SELECT 1 FROM v WHERE vn = 3)")
		if strings.HasSuffix(from, " AND ") {
			if where = strings.TrimPrefix(where, " WHERE "); where == "" {
				where = "true"
			}
		}
		text := pick(
			"SELECT * FROM "+from+where,
			"SELECT tn, count(*), sum(tk), first(tc), last(tn) FROM "+from+where+" GROUP BY tn",
			"SELECT count(*), sum(tk + 1) FROM "+from+where,
			"SELECT tc FROM "+from+where+" ORDER BY tn DESC LIMIT 5",
			"SELECT tc, tn FROM "+from+where+" LIMIT 7",
			"SELECT DISTINCT tc FROM "+from+where,
			"SELECT tc, count(*) AS n FROM "+from+where+" GROUP BY tc HAVING count(*) > (SELECT min(un) FROM u) ORDER BY n DESC, tc",
		)
		files := someTables(r)
		plain := planOf(t, text, files)
		want, err := answer(t, plain, files, local.Options{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		p := small(planOf(t, text, files), files)
		for seed := range uint64(3) {
			o := local.Options{Joiners: 1 + int(seed), Aggregators: 1 + int(seed), Seed: seed, ChunkBytes: 60}
			if got, err := answer(t, p, files, o); err != nil || got != want {
				t.Fatalf("statement %d, seed %d: %s\n   got  %s, %v\n   want %s", n, seed, text, got, err, want)
			}
		}
		told, err := Explain(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"every joiner has", "send the rows", "fold into", "keep the best", "keep the first", "different rows"} {
			if strings.Contains(told, what) {
				used[what]++
			}
		}
	}
	t.Log(used)
	if used["every joiner has"] < 150 {
		t.Errorf("most statements had no reference streams: %v", used)
	}
}

// TestBroadcastOfNoRows: a small table may have no rows; then its stream has only an end.
func TestBroadcastOfNoRows(t *testing.T) {
	files := fstest.MapFS{"l.csv": {Data: []byte("n\n1\n2\n3\n4\n5\n6\n")}, "s.csv": {Data: []byte("k\n")}}
	for text, want := range map[string]string{
		"SELECT count(*) FROM l JOIN s ON n = length(k)":                              "[[0]]",
		"SELECT n, k FROM l LEFT JOIN s ON n = length(k) LIMIT 2":                     "[[1,null],[2,null]]",
		"SELECT sum(n) FROM l ANTI JOIN s ON n = length(k)":                           "[[21]]",
		"SELECT sum(n) FROM l WHERE n NOT IN (SELECT length(k) FROM s)":               "[[21]]",
		"SELECT count(*) FROM l WHERE n > (SELECT count(*) + 2 FROM s)":               "[[4]]",
		"SELECT count(n), count(*) FROM s RIGHT JOIN l ON n = length(k) WHERE n <> 2": "[[5,5]]",
	} {
		p := small(planOf(t, text, files), files)
		if told, err := Explain(p); err != nil || !strings.Contains(told, "every joiner has s whole") {
			t.Errorf("%s: %s %v", text, told, err)
		}
		if got, err := answer(t, p, files, local.Options{Joiners: 2, Seed: 3, ChunkBytes: 4}); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
}

// TestSmall_APlanSetsWhatJoinersGet: a plan may say how much of small tables every joiner gets, and nodes split its session likewise.
func TestSmall_APlanSetsWhatJoinersGet(t *testing.T) {
	files := fstest.MapFS{"s.csv": {Data: []byte("k\n1\n2\n3\n")}, "l.csv": {Data: []byte("n\n" + strings.Repeat("1\n", 9))}}
	for most, want := range map[int64]int{0: 1, -1: 0, 4: 0, 1 << 20: 1} {
		p := small(planOf(t, "SELECT count(*) FROM l JOIN s ON n = k", files), files)
		p.Small = most
		s, err := p.Session()
		if err != nil {
			t.Fatal(err)
		}
		if s, err = Decode(s.Encode()); err != nil || s.Small != most {
			t.Fatalf("%v, %v", s, err)
		}
		st, err := s.split(false)
		if err != nil || len(st.Refs) != want {
			t.Errorf("with at most %d bytes: %v, %v", most, st.Refs, err)
		}
	}
}

// TestReferencesThatDoNotFit: what a joiner computes from small tables may be too large; then the session ends with an error
// that a client recognizes.
func TestReferencesThatDoNotFit(t *testing.T) {
	files := fstest.MapFS{"s.csv": {Data: []byte("k\n1\n2\n3\n")}, "l.csv": {Data: []byte("n\n" + strings.Repeat("1\n", 9))}}
	s, err := small(planOf(t, "SELECT count(*) FROM l JOIN s ON n = k", files), files).statement()
	if err != nil {
		t.Fatal(err)
	}
	j, err := s.NewJoiner(analyses.Replica{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	j.Refs.Most = 20
	b := batch.NewBuilder(mustDescribe(t, s.Order[0]).Schema)
	for k := range int64(3) {
		b.Int(0).Append(k)
		b.Int(1).Append(0)
	}
	rows, err := batch.Decode(b.Append(nil), mustDescribe(t, s.Order[0]).Schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Reference(0, rows, analyses.Position{}), j.End(0)); err != nil {
		t.Fatal(err)
	}
	if err := j.Facts(1, rows, analyses.Position{}); !errors.Is(err, exec.ErrReference) || !strings.Contains(err.Error(), "(s, about 8 B)") {
		t.Error(err)
	}
}

func mustDescribe(t *testing.T, sc *exec.Scan) analyses.Stream {
	t.Helper()
	st, err := sc.Describe()
	if err != nil {
		t.Fatal(err)
	}
	return st
}
