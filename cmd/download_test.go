package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/await"
)

// linksVar names an environment variable that adds the analysis links to the program of the tests, its nodes included.
const linksVar = "POSTA_TEST_LINKS"

// links returns an analysis whose answers contain URLs: the query first has all of them, and the query never has none.
func links() *analyses.Analysis {
	tables := []fold.Spec{{Name: "links", Stream: "links", Keys: []fold.Key{{Name: "url", Kind: fold.KeyText}},
		Aggs: []fold.Agg{{Name: "n", Kind: fold.Sum}}}}
	query := func(name string) analyses.Query {
		return analyses.Query{Name: name, Columns: []string{"n", "url"}, Tables: []string{"links"}, Download: "url"}
	}
	return &analyses.Analysis{
		Name: "links", Tables: tables, Queries: []analyses.Query{query("first"), query("never")},
		Streams: []analyses.Stream{{Name: "links", Files: "links.csv", Columns: analyses.Columns("url"),
			Schema: []batch.FieldSpec{{Name: "url", Kind: batch.Dict}}}},
		NewJoiner: analyses.FoldFacts(tables, func(f analyses.Facts, t []*fold.Table) error {
			for i := range f.Rows() {
				t[0].AddSum(t[0].Row(t[0].Key().Text(f.Dicts(0).At(i))), 0, 1)
			}
			return nil
		}),
		Reduce: func(_ analyses.Args, query int, t []*fold.Table, emit func(...any)) error {
			if query > 0 {
				return nil
			}
			for _, row := range t[0].Sorted(nil) {
				emit(t[0].Sum(row, 0), string(t[0].KeyText(row, 0)))
			}
			return nil
		},
	}
}

// linksTo makes data for the analysis links, and adds it to the program.
func linksTo(t *testing.T, urls ...string) string {
	t.Helper()
	t.Setenv(linksVar, "1")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "links.csv"), []byte("url\n"+strings.Join(urls, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDownloadSavesWhatTheFirstRowPointsTo(t *testing.T) {
	asked := make(chan string, 10)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		_, _ = io.WriteString(w, "a picture")
	}))
	defer web.Close()
	dir := filepath.Join(t.TempDir(), "new", "pictures")
	from := linksTo(t, web.URL+"/z.png", web.URL+"/a/b.png")
	r := must(t, "run", "links", "--data", from, "--json", "--download", dir, "--download-private", "-q")
	if a := parse(t, r.out); len(a.Queries["first"].Rows) != 2 {
		t.Errorf("the answer is %s", r.out)
	}
	saved := filepath.Join(dir, "first-b.png")
	if b, err := os.ReadFile(saved); err != nil || string(b) != "a picture" {
		t.Errorf("%q, %v", b, err)
	}
	want := fmt.Sprintf("first: 9 B saved as %s\nwarning: nothing downloaded for never: the answer has no row\n", saved)
	if r.err != want {
		t.Errorf("standard error holds %q, want %q", r.err, want)
	}
	if path := <-asked; path != "/a/b.png" || len(asked) > 0 {
		t.Errorf("%s was fetched, and %d more", path, len(asked))
	}
}

func TestDownloadsOfAClusterThatIsKept(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a picture") }))
	defer web.Close()
	from := linksTo(t, web.URL+"/b.png")
	k := newTestCluster(t)
	k.must("up")
	id := strings.TrimSpace(k.must("submit", "links", "--data", from, "--detach", "-q").out)
	for _, call := range [][]string{{"submit", "links", "--data", from, "-q"}, {"results", id, "--drop"}} {
		dir := t.TempDir()
		k.must(call[0], append(call[1:], "--download", dir, "--download-private")...)
		if b, err := os.ReadFile(filepath.Join(dir, "first-b.png")); err != nil || string(b) != "a picture" {
			t.Errorf("%v: %q, %v", call, b, err)
		}
	}
}

func TestWhatCannotBeDownloadedIsAWarning(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	for url, want := range map[string]string{
		web.URL + "/gone.png": "404 Not Found", web.URL +
			"/private.png": "only public addresses are fetched from, unless --download-private is given",
		"file:///etc/passwd": "not a URL of http or https", "\"\"": "not a URL",
	} {
		dir := t.TempDir()
		r := must(t, "run", "links", "--data", linksTo(t, url), "--download", dir, "-q", "--replicas", "joiner=1,aggregator=1",
			"--download-private="+strconv.FormatBool(strings.HasSuffix(url, "gone.png")))
		if !strings.Contains(r.err, "warning: nothing downloaded for first: ") || !strings.Contains(r.err, want) ||
			!strings.Contains(r.out, "first: 1 row\n") {
			t.Errorf("%s: %s%s", url, r.out, r.err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", url, left, err)
		}
	}
}

func TestCtrlCEndsADownload(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(context.Background())
	began := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
	}))
	defer web.Close()
	done := make(chan result, 1)
	from, dir := linksTo(t, web.URL), t.TempDir()
	go func() {
		done <- postaUntil(ctx, context.Background(), "run", "links", "--data", from, "--download", dir, "--download-private", "-q")
	}()
	select {
	case <-began:
	case <-time.After(time.Minute):
		t.Error("nothing is fetched")
	}
	interrupt(exit.ErrInterrupted)
	if r := <-done; r.code != exit.Interrupted || !strings.HasSuffix(r.err, "posta: interrupted\n") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}

func TestDownloadIsRefusedWhereItCannotWork(t *testing.T) {
	from, file := linksTo(t, "x"), filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]string{
		"run bikes --download D":             "run: --download: no answer of bikes points to a file",
		"run nope --download D":              `unknown analysis "nope"`,
		"submit links --detach --download D": "give it to posta results ID",
		"run links --download " + file:       "give another one with --download",
	} {
		r := posta(t, append(strings.Fields(call), "--data", from)...)
		if r.code != exit.Usage || !strings.Contains(r.err, want) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: exit code %d, %s", call, r.code, r.err)
		}
	}
}

func TestAnalysesListsWhatCanBeDownloaded(t *testing.T) {
	linksTo(t)
	if r := must(t, "analyses"); !strings.Contains(r.out, "n, url; --download saves what url points to") {
		t.Error(r.out)
	}
	if r := must(t, "analyses", "--json"); strings.Count(r.out, `"download":"url"`) != 2 {
		t.Error(r.out)
	}
}

func TestAProgramWithMalformedAnalysesFailsAtOnce(t *testing.T) {
	var out, err await.Log
	p := Program{Analyses: analyses.Set{links(), links()}}
	code := runWithin(context.Background(), context.Background(), p, []string{"posta", "analyses"}, Console{Out: &out, Err: &err})
	if code != exit.Failed || err.String() != "posta: bad analysis: there are two called \"links\"\n" || out.String() != "" {
		t.Errorf("exit code %d, %q, %q", code, out.String(), err.String())
	}
	if e := p.Analyses.Check(); !errors.Is(e, analyses.ErrBadAnalysis) {
		t.Error(e)
	}
}

func TestAProgramWithoutSettingsHasAVersionAndNodes(t *testing.T) {
	p := Program{}.withDefaults()
	if p.Version == "" || p.RunNode == nil {
		t.Errorf("%+v", p)
	}
	if v := builtFrom(nil, false); v != "unknown" {
		t.Error(v)
	}
}
