package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/bench/brokers"
	"posta.dev/posta/test/e2e/truth"
	"posta.dev/posta/test/natstest"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// TestMain runs a child of the bench when a test starts this binary again.
func TestMain(m *testing.M) {
	if IsChild(os.Args[1:]) && len(os.Args) > 3 && os.Args[3] == "oracle" {
		os.Exit(Oracle(os.Args[1:], truth.Here))
	}
	if IsChild(os.Args[1:]) {
		os.Exit(Child(os.Args[1:]))
	}
	if len(os.Args) == 4 && os.Args[1] == endlessVerb {
		os.Exit(runEndless(os.Args[2], os.Args[3]))
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { natstest.Remove(); removePlain(); os.Exit(code) }))
}

var plain struct {
	once sync.Once
	dir  string
	err  error
}

// plainPosta is posta as it is delivered, but for the profile, with which all would be compiled once more. Under the race detector this
// binary would be ten times slower, and test/e2e already runs whole clusters of it under the race detector.
func plainPosta(t *testing.T) string {
	t.Helper()
	plain.once.Do(func() {
		if plain.dir, plain.err = os.MkdirTemp("", "posta-bench"); plain.err != nil {
			return
		}
		if out, err := exec.Command("go", "build", "-pgo=off", "-ldflags=-w", "-o", plain.dir, "posta.dev/posta").CombinedOutput(); err != nil {
			plain.err = fmt.Errorf("build posta: %w: %s", err, out)
		}
	})
	if plain.err != nil {
		t.Fatal(plain.err)
	}
	return filepath.Join(plain.dir, "posta")
}

func removePlain() {
	if plain.dir != "" {
		_ = os.RemoveAll(plain.dir)
	}
}

// thisProgram returns its path, and says that it is the oracle's program too.
func thisProgram() (path string, rivals map[need]string) {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path, map[need]string{oracle: path}
}

// small returns a configuration that runs every section in a few seconds.
func small(t *testing.T, out *bytes.Buffer) Config {
	t.Helper()
	exe, own := thisProgram()
	dir := temp.Sockets(t)
	return Config{
		Rounds: 1, Cold: true, Dir: dir, Results: filepath.Join(dir, "results"), Self: []string{exe}, Out: out, rivals: own,
		Amount: 1 << 20, Sizes: []int{1 << 10, 256 << 10}, Links: []int{1, 3}, Rows: 20_000, Set: map[string]string{"limits.window": "2MiB"},
	}
}

// TestBench_ProfilesGoToADirectoryThatIsMade: a child that cannot write its profile ends, and the parent would only
// learn that it does not run. So the bench creates the directory before it starts a child, or says at once why it
// cannot.
func TestBench_ProfilesGoToADirectoryThatIsMade(t *testing.T) {
	var out bytes.Buffer
	c := small(t, &out)
	c.Sections, c.Sizes, c.Links, c.Profile = []string{"link"}, []int{256 << 10}, []int{1}, filepath.Join(c.Dir, "new", "profiles")
	if err := Run(context.Background(), c); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	files, err := filepath.Glob(filepath.Join(c.Profile, "*.prof"))
	if err != nil || len(files) == 0 {
		t.Errorf("%d profiles, %v", len(files), err)
	}
	c.Profile = filepath.Join(files[0], "below a file")
	if err := Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), "profile") {
		t.Errorf("profiles in %s: %v", c.Profile, err)
	}
}

func TestBench_UnknownSection(t *testing.T) {
	err := Run(context.Background(), Config{Sections: []string{"lnik"}, Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("got %v, want an error that names the sections", err)
	}
}

func TestField_WhoIsNotThereIsNamed(t *testing.T) {
	ctx := context.Background()
	_, own := thisProgram()
	c := Config{Contestants: []string{"posta-single", "duckdb"}, Dir: t.TempDir(), DuckDB: "/nowhere/duckdb", rivals: own}
	field, skipped, err := c.participants(ctx, func(*contestant) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range field {
		names = append(names, x.name)
	}
	if got := strings.Join(names, " "); got != "posta posta-single oracle" {
		t.Errorf("%s take part", got)
	}
	if len(field)+len(skipped) != len(ContestantNames()) {
		t.Errorf("%d take part, %d are named as skipped, there are %d", len(field), len(skipped), len(ContestantNames()))
	}
	for _, s := range skipped {
		if s.Name == "duckdb" && !strings.Contains(s.Why, "/nowhere/duckdb") || s.Why == "" {
			t.Errorf("skipped: %+v", s)
		}
	}
	c.Contestants = []string{"postal"}
	if _, _, err := c.participants(ctx, func(*contestant) bool { return true }); err == nil ||
		!strings.Contains(err.Error(), "posta-parsers") {
		t.Errorf("%v, want an error that names the contestants", err)
	}
}

// TestSkip_ABrokerThatIsNotInstalledIsNamed: the bench says how to install a missing broker, and the others still take
// part.
func TestSkip_ABrokerThatIsNotInstalledIsNamed(t *testing.T) {
	why := errors.New("rabbitmq-server is not installed")
	c := Config{prepared: map[need]error{rabbitMQ: why, natsServer: nil}}
	for _, x := range contestants() {
		if strings.HasPrefix(x.name, "rabbitmq") {
			c.Contestants = append(c.Contestants, x.name)
		}
	}
	c.Contestants = append(c.Contestants, "nats-parsers")
	field, skipped, err := c.participants(context.Background(), func(x *contestant) bool { return x.broker != nil })
	if err != nil || len(field) != 1 || field[0].name != "nats-parsers" {
		t.Errorf("%d take part, %v", len(field), err)
	}
	named := 0
	for _, s := range skipped {
		if s.Why == why.Error() {
			named++
		}
	}
	if named != 4 {
		t.Errorf("%d of 4 contestants are named as not installed: %+v", named, skipped)
	}
}

// TestSkip_ARivalWithoutSourceIsNamed: tests run in bench/, which is not the root of Posta's source, so rivals cannot
// be built.
func TestSkip_ARivalWithoutSourceIsNamed(t *testing.T) {
	c := Config{Dir: t.TempDir(), Contestants: []string{"nats"}}
	field, skipped, err := c.participants(context.Background(), func(x *contestant) bool { return x.name == "nats" })
	if err != nil || len(field) != 0 || len(skipped) != 1 || skipped[0].Why != brokers.ErrNoSource.Error() {
		t.Errorf("%d take part, skipped %+v, %v", len(field), skipped, err)
	}
}

func TestJudge_AWrongAnswerEndsTheRace(t *testing.T) {
	s, err := workloadOf("bikes")
	if err != nil {
		t.Fatal(err)
	}
	text := func(km, rejected string) []byte {
		return []byte(`{"Queries":{"rain":{"columns":["date"],"rows":[["2016-01-01"]]},"doubled":{"columns":["n"],"rows":[[2]]},` +
			`"far":{"columns":["average_km"],"rows":[[` + km + `]]}},"Rejected":` + rejected + `}`)
	}
	right := text("7.5", "{}")
	cluster, other := contestant{name: "a", cluster: &topology.Variant{}}, contestant{name: "b"}
	for _, x := range []struct {
		name   string
		field  contestant
		answer []byte
		ok     bool
	}{
		{"the same", cluster, right, true},
		{"a digit", cluster, text("7.500000000000001", "{}"), false},
		{"a rejected row", cluster, text("7.5", `{"trips":1}`), false},
		{"a digit of a sine that is not ours", other, text("7.500000000000001", "{}"), true},
		{"no rejected rows", other, text("7.5", "null"), true},
		{"another number", other, text("7.6", "{}"), false},
		{"no number", other, text(`"7.5"`, "{}"), false},
		{"no answer", other, []byte(`{"Queries":{}}`), false},
	} {
		err := s.checkAnswers([]contestant{x.field, {name: reference}}, []result{{answer: x.answer}, {answer: right}})
		if (err == nil) != x.ok {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

func TestRepeat_TheFirstRoundWarmsUp(t *testing.T) {
	c, err := repeat(context.Background(), "x", (&Config{Rounds: 4}).rounds(), func(_ context.Context, i int) ([]Measure, error) {
		return []Measure{{"speed", "MB/s", []float64{1000, 4, 1, 3, 2}[i]}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f := figureOf(&c, "speed")
	if f == nil || f.Median != 2.5 || f.Min != 1 || f.Max != 4 || len(f.Values) != 4 {
		t.Errorf("got %+v, want 2.5 (1–4)", f)
	}
	if got := f.Cell(); got != "2.50 (1.00–4.00)" {
		t.Errorf("cell is %q", got)
	}
}

func TestRepeat_ColdEveryRoundCounts(t *testing.T) {
	var rounds []int
	c, err := repeat(context.Background(), "x", (&Config{Rounds: 2, Cold: true}).rounds(), func(_ context.Context, i int) ([]Measure, error) {
		rounds = append(rounds, i)
		return []Measure{{"speed", "MB/s", float64(i)}}, nil
	})
	if f := figureOf(&c, "speed"); err != nil || !slices.Equal(rounds, []int{1, 2}) || f == nil || len(f.Values) != 2 {
		t.Errorf("rounds %v, %+v, %v", rounds, f, err)
	}
}

func TestRepeat_AnErrorEndsTheCase(t *testing.T) {
	broken := errors.New("broken")
	calls := 0
	_, err := repeat(context.Background(), "x", (&Config{Rounds: 4}).rounds(),
		func(context.Context, int) ([]Measure, error) { calls++; return nil, broken })
	if !errors.Is(err, broken) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestCompareTimes_TheOrderAlternates(t *testing.T) {
	var order []byte
	turn := func(name byte) func() (time.Duration, error) {
		return func() (time.Duration, error) { order = append(order, name); return time.Duration(name), nil }
	}
	for i := range 3 {
		if a, b, err := compareTimes(i, turn('a'), turn('b')); a != 'a' || b != 'b' || err != nil {
			t.Errorf("round %d: %d, %d, %v", i, a, b, err)
		}
	}
	if string(order) != "abbaab" {
		t.Errorf("order %s", order)
	}
}

func TestEndToEnd_AWrongAnswerHasNoSpeed(t *testing.T) {
	r := endToEnd{client: childReport{Answer: []byte(`1`)}, oracle: childReport{Answer: []byte(`2`)}}
	if r.compare() == nil {
		t.Error("answers that differ are accepted")
	}
	r.oracle.Answer = []byte(`1`)
	if err := r.compare(); err != nil {
		t.Error(err)
	}
}

func TestFlags(t *testing.T) {
	var c Config
	if err := c.ParseSizes("256,1024"); err != nil || len(c.Sizes) != 2 || c.Sizes[1] != 1024 {
		t.Errorf("%v, %v", c.Sizes, err)
	}
	if err := c.ParseSetting("limits.window=1MiB"); err != nil || c.Set["limits.window"] != "1MiB" {
		t.Errorf("%v, %v", c.Set, err)
	}
	for _, bad := range []string{"", "x", "0", "1,", "9999999999"} {
		if c.ParseSizes(bad) == nil {
			t.Errorf("sizes %q are accepted", bad)
		}
	}
	if err := c.ParseLinks("1,8"); err != nil || len(c.Links) != 2 || c.Links[1] != 8 {
		t.Errorf("%v, %v", c.Links, err)
	}
	for _, bad := range []string{"", "0", "65", "2,x"} {
		if c.ParseLinks(bad) == nil {
			t.Errorf("links %q are accepted", bad)
		}
	}
	if c.ParseSetting("limits.window") == nil {
		t.Error("a setting without a value is accepted")
	}
}

func TestFactsOr_RowsAreForEveryAnalysis(t *testing.T) {
	for _, s := range workloads() {
		if n := (&Config{}).factsOr(s.facts); n != s.facts {
			t.Errorf("%s: %d facts by default, want its own %d", s.name(), n, s.facts)
		}
		if n := (&Config{Rows: 7}).factsOr(s.facts); n != 7 {
			t.Errorf("%s: %d facts, want the 7 that were asked for", s.name(), n)
		}
		if found, err := workloadOf(s.name()); err != nil || found.what != s.what {
			t.Errorf("%s leads to %+v, %v", s.name(), found, err)
		}
	}
}

func TestChild_OnlyFromAParent(t *testing.T) {
	for _, args := range [][]string{nil, {"bikes"}, {childVerb}, {childVerb, ""}, {childVerb, "", "node"}, {childVerb, "", "dance", "x"},
		{childVerb, "", "oracle", "bicycles", "."}} {
		if runChild(args, child) == 0 {
			t.Errorf("%q is taken for a child", args)
		}
	}
}

// figureOf returns the figure with the name, or nil.
func figureOf(c *Case, name string) *Figure {
	for i := range c.Figures {
		if c.Figures[i].Name == name {
			return &c.Figures[i]
		}
	}
	return nil
}
