package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"go.uber.org/goleak"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/analyses/local"
)

// The test binary is also the program: run starts it again for each node, which is how any program's nodes know its analyses.
const selfVar = "POSTA_WORDCOUNT_TEST_SELF"

func TestMain(m *testing.M) {
	if os.Getenv(selfVar) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// program returns a call of wordcount.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe, args...)
	c.Env = append(os.Environ(), selfVar+"=1")
	return c
}

// written makes files of random words: few that are frequent, many that are not, in upper and lower case, quoted and broken over lines.
func written(t *testing.T, lines int, seed uint64) (dir string, texts []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	dir = t.TempDir()
	for _, name := range []string{"a/1.csv", "a/2.csv", "b/1.csv"} {
		var file bytes.Buffer
		w := csv.NewWriter(&file)
		rows := [][]string{{"n", "text"}}
		for i := range lines {
			var text strings.Builder
			for range r.IntN(12) {
				fmt.Fprintf(&text, "%s%s", word(r), []string{" ", ", ", "\n", "\"", "7"}[r.IntN(5)])
			}
			rows = append(rows, []string{fmt.Sprint(i), text.String()})
			texts = append(texts, text.String())
		}
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, texts
}

func word(r *rand.Rand) string {
	alphabet := []rune("aAbBéÉßжЖ")
	w := make([]rune, 1+min(r.IntN(4), r.IntN(4)))
	for i := range w {
		w[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(w)
}

// naive counts with a map.
func naive(texts []string, top int) []answer.Query {
	count, total := map[string]int64{}, int64(0)
	for _, text := range texts {
		for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
			count[w]++
			total++
		}
	}
	var rows [][]any
	for w, n := range count {
		rows = append(rows, []any{w, n})
	}
	slices.SortFunc(rows, func(a, b []any) int {
		return cmp.Or(cmp.Compare(b[1].(int64), a[1].(int64)), cmp.Compare(a[0].(string), b[0].(string)))
	})
	return []answer.Query{
		{Name: "top", Columns: []string{"word", "times"}, Rows: rows[:min(top, len(rows))]},
		{Name: "total", Columns: []string{"lines", "words", "different"}, Rows: [][]any{{int64(len(texts)), total, int64(len(count))}}},
	}
}

func TestD1_RandomTextsAreCountedAsANaiveProgramCounts(t *testing.T) {
	for seed := uint64(1); seed <= 6; seed++ {
		dir, texts := written(t, 400, seed)
		want := naive(texts, 50)
		o := local.Options{Seed: seed, Joiners: 1 + int(seed%4), Aggregators: 1 + int(seed%3), ChunkBytes: 1 << (6 + seed),
			Params: map[string]string{"top": "50"}}
		if got := run(t, dir, o); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %.300v\nwant %.300v", o, got, want)
		}
	}
}

func TestD1_AClusterOfThisProgramCountsTheSame(t *testing.T) {
	dir, texts := written(t, 2000, 9)
	for _, shape := range []string{"joiner=1,aggregator=1", "joiner=3,aggregator=2"} {
		c := program(t, "run", "wordcount", "--data", dir, "--param", "top=40", "--json", "--replicas", shape, "--chunk", "4KiB")
		var complaints strings.Builder
		c.Stderr = &complaints
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", shape, err, &complaints)
		}
		checkJSON(t, out, naive(texts, 40))
	}
}

func checkJSON(t *testing.T, out []byte, want []answer.Query) {
	t.Helper()
	var got struct {
		Queries map[string]struct{ Rows [][]any }
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%.300s", err, out)
	}
	for _, q := range want {
		if g, w := fmt.Sprint(got.Queries[q.Name].Rows), fmt.Sprint(q.Rows); g != w {
			t.Errorf("%s: %.300s\nwant %.300s", q.Name, g, w)
		}
	}
}

func TestTheProgramIsPostaWithThisAnalysis(t *testing.T) {
	out, err := program(t, "analyses").Output()
	if err != nil || !strings.Contains(string(out), "wordcount: how often each word occurs") ||
		!strings.Contains(string(out), "top        10") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = program(t, "run", "wordcount", "--data", "testdata", "--param", "top=0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `top of wordcount is "0": give an integer from 1 to 1000000`) {
		t.Errorf("%v\n%s", err, out)
	}
	if err := (analyses.Set{wordcount()}).Check(); err != nil {
		t.Error(err)
	}
}
