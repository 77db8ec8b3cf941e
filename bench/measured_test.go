//go:build nightly

// These tests run every section of the bench over real processes, which takes a minute and a half of one core, and say nothing of the
// product.

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/client/source/parquet/generated"
	"posta.dev/posta/test/natstest"
)

// TestBench_SectionsMeasureAndReport runs every section on little data: link and the analyses over real processes. The
// sections themselves check that frames arrive and that answers equal the oracle's.
func TestBench_SectionsMeasureAndReport(t *testing.T) {
	var out bytes.Buffer
	c := small(t, &out)
	c.Self, c.Source = []string{plainPosta(t), "bench"}, ".."
	for _, name := range SectionNames() {
		if !strings.HasPrefix(name, raceGroup) || !strings.Contains("race-bikes race-movies race-memes", name) {
			c.Sections = append(c.Sections, name)
		}
	}
	c.Contestants = []string{"posta-run", "posta-parsers", "posta-volatile", "nats"}
	c.rivals[natsServer] = natstest.Program(t)
	if err := Run(context.Background(), c); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	checkPage(t, c.Results)
	files, err := filepath.Glob(filepath.Join(c.Results, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d reports, %v", len(files), err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var r Report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Sections) != len(c.Sections) || r.Machine.Cores == 0 || r.Machine.Go == "" || r.Date.IsZero() {
		t.Errorf("the report lacks something: %s", b)
	}
	for _, s := range r.Sections {
		if !strings.Contains(out.String(), s.About) {
			t.Errorf("section %s was not printed", s.Name)
		}
		if s.Name == "hosts" && runtime.NumCPU() == 1 && len(s.Skipped) == 1 { // a host is a core
			continue
		}
		ratio := figureOf(&s.Cases[0], "ratio")
		if strings.HasPrefix(s.Name, raceGroup) {
			ratio = figureOf(&s.Cases[len(s.Cases)-1], map[string]string{"race-flights": "times", "race-hop": "CPU times",
				"race-latency": "chunk, busy p99", "race-recovery": "running again"}[s.Name])
		}
		if slices.Contains([]string{"sql", "tpch", "clickbench", "h2o"}, s.Name) { // without DuckDB they have nothing to compare with
			ratio = figureOf(&s.Cases[0], "CPU")
		}
		if s.Name == "small" {
			ratio = figureOf(&s.Cases[len(s.Cases)-1], "p50")
		}
		if s.Name == "model" {
			ratio = figureOf(&s.Cases[0], "share")
		}
		if s.Name == "reopen" {
			ratio = figureOf(&s.Cases[0], "open")
		}
		if s.Name == "latency" {
			ratio = figureOf(&s.Cases[len(s.Cases)-1], "fsyncs")
		}
		if ratio == nil || len(ratio.Values) != c.Rounds || ratio.Median <= 0 {
			t.Errorf("section %s: ratio %+v, want %d of them", s.Name, ratio, c.Rounds)
		}
	}
	left, err := filepath.Glob(filepath.Join(c.Dir, "[hlbre][0-9]*"))
	left = slices.DeleteFunc(left, func(name string) bool { return strings.HasPrefix(filepath.Base(name), "h2o-") })
	if err != nil || len(left) != 0 { // the generated data
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// checkPage expects a complete HTML page that loads nothing from elsewhere.
func checkPage(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, want := range []string{"<h2>race-flights</h2>", "<svg ", "posta-parsers", "not asked for", "</html>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, no := range []string{"http", "<script", "src=", "ZgotmplZ", "NaN"} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %q", no)
		}
	}
}

// TestModel_ATinyRunHasFiguresToo: of hardly any work the profiler mostly sees nothing, and a report of NaN cannot be written.
func TestModel_ATinyRunHasFiguresToo(t *testing.T) {
	var out bytes.Buffer
	c := small(t, &out)
	c.Self, c.Rows, c.Sections = []string{plainPosta(t), "bench"}, 1, []string{"model"}
	for range 3 {
		if err := Run(context.Background(), c); err != nil || strings.Contains(out.String(), "NaN") {
			t.Fatalf("%v\n%s", err, out.String())
		}
	}
}

// TestModel_OfOneFile: the last line says what cores give, and an input does most of the work.
func TestModel_OfOneFile(t *testing.T) {
	var out bytes.Buffer
	c := small(t, &out)
	c.Self, c.Rows, c.Rounds = []string{plainPosta(t), "bench"}, 30_000, 1
	cases, err := c.modelFile(context.Background(), generated.Parquet)
	if err != nil {
		t.Fatal(err)
	}
	last := &cases[len(cases)-1]
	gain := figureOf(last, "16 cores")
	if !strings.HasPrefix(last.Name, "one file of parquet") || gain == nil || gain.Median < 1 || gain.Median > 16 {
		t.Errorf("%s: %+v", last.Name, gain)
	}
	if !slices.ContainsFunc(cases, func(x Case) bool { return strings.Contains(x.Name, "input: ") }) {
		t.Errorf("no part of an input in %+v", cases)
	}
}

// TestModel_OfARealCluster: the work that the model finds is that of the processes, and rows are parsed in the input.
func TestModel_OfARealCluster(t *testing.T) {
	var out bytes.Buffer
	c := small(t, &out)
	c.Self, c.Rows = []string{plainPosta(t), "bench"}, 2_000_000 // a tenth of a second and more in the parser, and a sample of it every 10 ms
	s, err := workloadOf("bikes")
	if err != nil {
		t.Fatal(err)
	}
	data, _, err := s.dataIn(c.Dir, c.Rows)
	if err != nil {
		t.Fatal(err)
	}
	m := &modelled{c: &c, s: s, data: data, rows: c.Rows}
	if err := m.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	parts := modelParts(m.own.processes, m.own.rows, 1)
	i := slices.IndexFunc(parts, func(p modelPart) bool { return p.name == "input: parsing" })
	if total := totalCost(parts); i < 0 || parts[i].cost < total/10 || total > 1e5 {
		t.Errorf("parsing is hardly any of %v", parts)
	}
	if len(m.cases()) < 8 {
		t.Errorf("%d lines", len(m.cases()))
	}
}

// TestSteps_OfARealCluster: the profiles of all processes are read, and rows are decoded and folded.
func TestSteps_OfARealCluster(t *testing.T) {
	var out bytes.Buffer
	c := small(t, &out)
	c.Self, c.Rows, c.Sections, c.Steps = []string{plainPosta(t), "bench"}, 2_000_000, []string{"sql"}, true
	done, err := measureSQL(context.Background(), &c)
	if err != nil || len(done.Cases) != 4 || len(done.Skipped) != 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	distinct := done.Cases[3]
	for _, name := range []string{"decode", "fold"} {
		if f := figureOf(&distinct, name); f.Median < figureOf(&distinct, "all").Median/20 {
			t.Errorf("%s takes %v ns of a row: %+v", name, f.Median, distinct)
		}
	}
}
