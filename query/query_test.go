package query_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/client"
	"posta.dev/posta/nodes"
	"posta.dev/posta/query"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

func TestMain(m *testing.M) {
	if topology, asks := os.LookupEnv("POSTA_TEST_ASKS"); asks {
		askAndDie(topology)
	}
	goleak.VerifyTestMain(m)
}

// dataOf writes files into a directory of their own.
func dataOf(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const trips = "id,city,km,started\n1,Montreal,2.25,2024-02-28 08:00:00\n2,Toronto,9.75,2024-02-29 09:30:00.5\n3,Montreal,4,2024-03-01 " +
	"10:00:00\n"

// open returns a database over files, on nodes in this process.
func open(t testing.TB, files map[string]string, change func(*query.Config)) *query.DB {
	t.Helper()
	cfg := query.Local(dataOf(t, files))
	if change != nil {
		change(&cfg)
	}
	db, err := query.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// ask returns the rows of an answer, each as its values in brackets.
func ask(t testing.TB, db *query.DB, text string, args ...any) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	rows, err := db.Query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	var all []string
	for rows.Next() {
		values := make([]any, len(rows.Columns()))
		for i := range values {
			values[i] = rows.Value(i)
		}
		all = append(all, fmt.Sprint(values))
	}
	return all, errors.Join(rows.Err(), rows.Close())
}

// must is ask for questions that have answers.
func must(t testing.TB, db *query.DB, want []string, text string, args ...any) {
	t.Helper()
	if got, err := ask(t, db, text, args...); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s %v: %q, %v, want %q", text, args, got, err, want)
	}
}

func TestQuery_AnswersAndScans(t *testing.T) {
	db := open(t, map[string]string{"trips.csv": trips}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rows, err := db.Query(ctx, "SELECT city, count(*) AS n, max(km) AS far, max(started) AS last FROM trips WHERE km > $1 GROUP BY city "+
		"ORDER BY city", 2.0)
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		city string
		n    int
		far  float64
		last time.Time
	}
	var got []line
	for rows.Next() {
		var l line
		if err := rows.Scan(&l.city, &l.n, &l.far, &l.last); err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	want := []line{{"Montreal", 2, 4, time.Date(2024, 3, 1, 10, 0, 0, 0, time.UTC)},
		{"Toronto", 1, 9.75, time.Date(2024, 2, 29, 9, 30, 0, 5e8, time.UTC)}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestQuery_Parameters(t *testing.T) {
	db := open(t, map[string]string{"trips.csv": trips}, nil)
	must(t, db, []string{"[3]"}, "SELECT $1 + 1", 2)
	must(t, db, []string{"[3 x 2.5 true <nil>]"}, "SELECT ? + 1, ?, ?, ?, ?", 2, "x", 2.5, true, nil)
	must(t, db, []string{"[2]"}, "SELECT count(*) FROM trips WHERE city = $city AND km < :most", query.Named("city", "Montreal"),
		query.Named("most", 5))
	must(t, db, []string{"[3]"}, "SELECT id FROM trips WHERE started > $1", time.Date(2024, 2, 29, 23, 0, 0, 0, time.UTC))
	must(t, db, []string{"[true]"}, "SELECT DATE '2024-02-29' = $1", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC))
	must(t, db, []string{"[' OR 1 = 1 --]"}, "SELECT $1", "' OR 1 = 1 --")
	var none *int
	must(t, db, []string{"[true]"}, "SELECT $1 IS NULL", none)
	if _, err := ask(t, db, "SELECT $1 + $2", 1); err == nil || !strings.Contains(err.Error(), "the parameter 2 has no value") {
		t.Errorf("a missing value: %v", err)
	}
	if _, err := ask(t, db, "SELECT $1", struct{}{}); err == nil || !strings.Contains(err.Error(), "$1") {
		t.Errorf("a struct: %v", err)
	}
	if _, err := ask(t, db, "SELECT $1", uint64(1<<63)); err == nil || !strings.Contains(err.Error(), "BIGINT") {
		t.Errorf("beyond BIGINT: %v", err)
	}
}

// TestQuery_AsksAgain: no sample shows the value that makes the column a DOUBLE, so the question is asked twice, and that is told.
func TestQuery_AsksAgain(t *testing.T) {
	var b strings.Builder
	b.WriteString("a\n")
	for i := range 4_000_000 {
		if i == 1_300_000 {
			b.WriteString("0.5\n")
		} else {
			b.WriteString("1\n")
		}
	}
	var told []string
	var mu sync.Mutex
	db := open(t, map[string]string{"t.csv": b.String()}, func(c *query.Config) {
		c.Watch.Notice = func(n query.Notice) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, n.Text)
		}
	})
	must(t, db, []string{"[3.9999995e+06]"}, "SELECT sum(a) FROM t")
	if len(told) != 1 || !strings.Contains(told[0], "column a of t is DOUBLE, not BIGINT") {
		t.Errorf("told %q", told)
	}
}

func TestQuery_SeveralStatementsAndPasses(t *testing.T) {
	db := open(t, map[string]string{"trips.csv": trips}, nil)
	s, err := db.Prepare(t.Context(), `-- name: far
SELECT id FROM trips WHERE km > (SELECT avg(km) FROM trips);
-- name: none
SELECT 1 / 0 AS a, count(*) AS n FROM trips WHERE id > 100;
DESCRIBE trips`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var names []string
	for _, st := range s.Statements() {
		names = append(names, fmt.Sprint(st.Name, st.Columns, st.Lists))
	}
	if len(names) != 3 || !strings.HasPrefix(names[0], "far[{id ") || s.Statements()[2].Lists != true || !s.NeedsCluster() {
		t.Errorf("statements %q", names)
	}
	if texts, err := s.Explain(t.Context()); err != nil || len(texts) != 3 || !strings.Contains(texts[0], "table trips: 1 file of trips.csv") {
		t.Errorf("explained as %q, %v", texts, err)
	}
	answer, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := s.Rows(answer, 0)
	if !first.Next() || first.Value(0) != int64(2) || first.Next() {
		t.Errorf("far: %v", first)
	}
	_ = first.Close()
	if first.Next() {
		t.Error("closed rows go on")
	}
	if d := s.Rows(answer, 2); d.Len() != 4 || d.Columns()[0].Name != "column_name" {
		t.Errorf("DESCRIBE has %d rows of %v", d.Len(), d.Columns())
	}
}

func TestQuery_RejectedRows(t *testing.T) {
	files := map[string]string{"t.csv": "a,b\n1,2\n3\n4,5\n"}
	db := open(t, files, nil)
	rows, err := db.Query(t.Context(), "SELECT sum(a) FROM t")
	if err != nil {
		t.Fatal(err)
	}
	if r := rows.Rejected(); len(r) != 1 || r[0].Rows != 1 || r[0].First[0].Line != 3 {
		t.Errorf("rejected %v", r)
	}
	_ = rows.Close()
	none := uint64(0)
	strict := open(t, files, func(c *query.Config) { c.MaxRejected = &none })
	if _, err := ask(t, strict, "SELECT sum(a) FROM t"); !errors.Is(err, query.ErrRejected) {
		t.Errorf("with MaxRejected: %v", err)
	}
	s, err := db.Prepare(t.Context(), "SELECT sum(a) FROM t")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.Create(filepath.Join(t.TempDir(), "rejected.csv"))
	if err != nil {
		t.Fatal(err)
	}
	_, ran := "", s.ListRejected(list)
	if ran == nil {
		_, ran = s.Run(t.Context())
	}
	text, read := os.ReadFile(list.Name())
	if err := errors.Join(ran, s.Close(), read); err != nil || strings.Count(string(text), "\n") > 2 {
		t.Errorf("listed %q, %v", text, err)
	}
	if text, err = os.ReadFile(list.Name()); err != nil || !strings.Contains(string(text), "t,t.csv,3,") {
		t.Errorf("listed %q, %v", text, err)
	}
}

func TestQuery_BadStatementsAndFiles(t *testing.T) {
	db := open(t, map[string]string{"trips.csv": trips}, nil)
	for text, want := range map[string]string{
		"SELEC 1": "SELEC", "SELECT * FROM nowhere": "there is no table nowhere", "SELECT x FROM trips": "x",
		"SELECT 1; SELECT 2": "there are 2", "": "there is no statement", "CREATE VIEW v AS SELECT 1 AS a": "there are 0",
	} {
		if _, err := ask(t, db, text); !errors.Is(err, client.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := query.Open(t.Context(), query.Local(filepath.Join(t.TempDir(), "none"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	if _, err := query.Open(t.Context(), query.Cluster(filepath.Join(t.TempDir(), "none.toml"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no topology: %v", err)
	}
	if want := []string{"trips"}; !slices.Equal(db.Tables(), want) {
		t.Errorf("tables %q", db.Tables())
	}
	one, err := query.Open(t.Context(), query.Local(filepath.Join(dataOf(t, map[string]string{"t.csv": "a\n7\n"}), "t.csv")))
	if err != nil {
		t.Fatal(err)
	}
	must(t, one, []string{"[7]"}, "SELECT a FROM t")
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if _, err := ask(t, one, "SELECT a FROM t"); !errors.Is(err, query.ErrClosed) {
		t.Errorf("a closed database: %v", err)
	}
	must(t, one, []string{"[1]"}, "SELECT 1") // needs no node
}

func TestQuery_ManyAtOnceAndCancelled(t *testing.T) {
	db := open(t, map[string]string{"trips.csv": trips}, nil)
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() { must(t, db, []string{fmt.Sprintf("[%d]", i+1)}, "SELECT count(*) - 2 + $1 FROM trips", i) })
	}
	all.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	pipe, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	all.Go(func() { // a table without an end
		_, err := hold.WriteString("a\n")
		for err == nil {
			_, err = hold.WriteString(strings.Repeat("1\n", 10_000))
		}
	})
	endless := open(t, nil, func(c *query.Config) {
		c.Stdin = pipe
		c.Watch.Progress = func(client.Progress) { cancel() }
	})
	if _, err := endless.Query(ctx, "SELECT sum(a) FROM '-'"); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled question: %v", err)
	}
	_ = pipe.Close() // the writer gets an error
	all.Wait()
	_ = hold.Close()
}

func TestRows_ScanRefusesWhatDoesNotFit(t *testing.T) {
	db := open(t, nil, nil)
	rows, err := db.Query(t.Context(), "SELECT 300 AS i, 9007199254740993 AS big, 2.5e0 AS f, 'x' AS s, NULL AS n, 4e0 AS whole, -1 AS minus")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var a any
	if err := rows.Scan(&a); !errors.Is(err, query.ErrScan) {
		t.Errorf("before Next: %v", err)
	}
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	if err := rows.Scan(&a); !errors.Is(err, query.ErrScan) {
		t.Errorf("one destination: %v", err)
	}
	var i8 int8
	var i int
	var f float64
	var u uint
	var b bool
	var at time.Time
	var c chan int
	for column, to := range map[int]any{0: &i8, 1: &f, 2: &i, 3: &i, 4: &i, 6: &u} {
		dest := []any{&a, &a, &a, &a, &a, &a, &a}
		if dest[column] = to; !errors.Is(rows.Scan(dest...), query.ErrScan) {
			t.Errorf("column %d is scanned into %T", column, to)
		}
	}
	for _, to := range []any{&b, &at, &c, i, nil} {
		dest := []any{&a, &a, &a, to, &a, &a, &a}
		if !errors.Is(rows.Scan(dest...), query.ErrScan) {
			t.Errorf("a text is scanned into %T", to)
		}
	}
	var n *int
	var p *string
	var raw []byte
	null := sql.NullString{Valid: true}
	if err := rows.Scan(&i, &a, &f, &p, &n, &u, &raw); err != nil || i != 300 || a != int64(9007199254740993) || f != 2.5 || *p != "x" ||
		n != nil ||
		u != 4 || string(raw) != "-1" {
		t.Errorf("scanned %d %v %v %v %v %d %s, %v", i, a, f, p, n, u, raw, err)
	}
	if err := rows.Scan(&a, &a, &a, &null, &null, &a, &a); err != nil || null.Valid {
		t.Errorf("a sql.Scanner: %v, %v", null, err)
	}
}

func TestRows_Batches(t *testing.T) {
	db := open(t, map[string]string{"trips.csv": trips + "4,,,\n"}, nil)
	rows, err := db.Query(t.Context(), "SELECT id, city, km, km > 3 AS far FROM trips ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	n := 0
	for b := range rows.Batches() {
		n += b.Len
		if c := b.Columns; fmt.Sprint(c[0].Ints, c[1].Texts, c[2].Floats, c[3].Bools, c[0].Null, c[2].Null) !=
			"[1 2 3 4] [Montreal Toronto Montreal ] [2.25 9.75 4 0] [false true true false] [] [false false false true]" {
			t.Errorf("batch %+v", b)
		}
	}
	if n != 4 || rows.Len() != 4 || rows.Err() != nil {
		t.Errorf("%d rows of %d, %v", n, rows.Len(), rows.Err())
	}
}

// clusterOf starts a cluster that outlives its clients, and returns its topology file.
func clusterOf(t *testing.T) string {
	t.Helper()
	topo := temp.Topology(t, topology.Variant{Settings: map[string]string{"medics.replicas": "0"}})
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, n := range topo.Nodes() {
		running.Go(func() {
			if err := nodes.Run(ctx, nodes.Config{Topology: topo, Node: n.ID, Known: analyses.Set{split.New()}}); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	return topo.File
}

// on opens a database on a cluster, and collects its notices.
func on(t *testing.T, file, data, as string) (db *query.DB, told func() string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	cfg := query.Cluster(file)
	cfg.Data, cfg.As = data, as
	cfg.Watch.Notice = func(n query.Notice) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, n.Text)
	}
	db, err := query.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(all, "\n")
	}
}

// TestQuery_OnACluster asks a cluster that runs, by its topology file. The same may be asked again under one name.
func TestQuery_OnACluster(t *testing.T) {
	db, told := on(t, clusterOf(t), dataOf(t, map[string]string{"trips.csv": trips}), "report")
	for range 3 {
		must(t, db, []string{"[Toronto 9.75]"}, "SELECT city, km FROM trips ORDER BY km DESC LIMIT 1")
	}
	must(t, db, []string{"[1]"}, "SELECT 1")
	if told() != "" {
		t.Errorf("told %q", told())
	}
}

const sumOfNumbers = "SELECT count(*), sum(a) FROM numbers"

// askAndDie asks in a process of its own, in small chunks, and kills the process in the middle of the upload.
func askAndDie(topology string) {
	cfg := query.Cluster(topology)
	cfg.Data, cfg.As = os.Getenv("POSTA_TEST_DATA"), "nightly"
	cfg.Session = client.Config{Chunk: 32, Lanes: 1}
	cfg.Watch.Progress = func(p client.Progress) {
		if len(p.Streams) > 0 && p.Streams[0].Chunks > 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	db, err := query.Open(context.Background(), cfg)
	if err == nil {
		_, err = db.Query(context.Background(), sumOfNumbers)
	}
	fmt.Println("the process should not come here:", err)
	os.Exit(1)
}

// TestR17_AKilledProgramThatAsksAgainContinues: every row counts once, and the session is the one that the killed program has begun.
func TestR17_AKilledProgramThatAsksAgainContinues(t *testing.T) {
	var b strings.Builder
	b.WriteString("a\n")
	for i := range 300_000 {
		fmt.Fprintln(&b, i)
	}
	file, data := clusterOf(t), dataOf(t, map[string]string{"numbers.csv": b.String()})
	killed := exec.Command(os.Args[0])
	killed.Env = append(os.Environ(), "POSTA_TEST_ASKS="+file, "POSTA_TEST_DATA="+data)
	var said bytes.Buffer
	killed.Stdout, killed.Stderr = &said, &said
	if err := killed.Run(); killed.ProcessState == nil || killed.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the program ended with %v and said %s", err, &said)
	}
	other, told := on(t, file, data, "other")
	must(t, other, []string{"[300000 44999850000]"}, sumOfNumbers)
	if told() != "" {
		t.Errorf("a program of another name was told %q", told())
	}
	again, told := on(t, file, data, "nightly")
	must(t, again, []string{"[300000 44999850000]"}, sumOfNumbers)
	if !strings.Contains(told(), "continues where its client has stopped") || strings.Contains(told(), "cannot be continued") {
		t.Errorf("told %q", told())
	}
	must(t, again, []string{"[300000 44999850000]"}, sumOfNumbers) // the session is over, and the question is asked again
	if strings.Count(told(), "continues") != 1 {
		t.Errorf("told %q", told())
	}
}

// TestR17_AnAnswerThatNobodyTookIsFetched: a program was killed when its session was answered, and asks again.
func TestR17_AnAnswerThatNobodyTookIsFetched(t *testing.T) {
	file, data := clusterOf(t), dataOf(t, map[string]string{"trips.csv": trips})
	db, told := on(t, file, data, "report")
	const text = "SELECT city, count(*) FROM trips GROUP BY city ORDER BY city"
	query.LeaveAnswer(t, db, text)
	must(t, db, []string{"[Montreal 2]", "[Toronto 1]"}, text)
	if !strings.Contains(told(), "continues where its client has stopped") || strings.Contains(told(), "cannot be continued") {
		t.Errorf("told %q", told())
	}
	query.LeaveAnswer(t, db, text)
	if err := os.WriteFile(filepath.Join(data, "trips.csv"), []byte(trips+"4,Halifax,1,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, db, []string{"[Halifax 1]", "[Montreal 2]", "[Toronto 1]"}, text) // other files: another question
	if strings.Count(told(), "continues") != 1 {
		t.Errorf("told %q", told())
	}
}
