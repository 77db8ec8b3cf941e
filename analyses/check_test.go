package analyses

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// sound returns an analysis that passes Check but cannot run.
func sound() *Analysis {
	schema := []batch.FieldSpec{{Name: "x", Kind: batch.Int}}
	return &Analysis{
		Name:   "a",
		Params: []Param{{Name: "p", Default: "1", Check: notEmpty}, {Name: "q"}},
		Streams: []Stream{
			{Name: "r", Reference: true, Files: "r.csv", Columns: []Column{{Name: "x"}}, Schema: schema},
			{Name: "f", Files: "*/f.csv", Columns: []Column{{Name: "x"}}, Schema: schema},
		},
		Tables:    []fold.Spec{{Name: "t", Stream: "f", Aggs: []fold.Agg{{Name: "n", Kind: fold.Sum}}}},
		Queries:   []Query{{Name: "q", Columns: []string{"n"}, Tables: []string{"t"}}},
		NewParser: func(Args, int, File, *batch.Builder) (func([][]byte) error, error) { return nil, nil },
		NewJoiner: func(Args, Replica) (Joiner, error) { return nil, nil },
		Reduce:    func(Args, int, []*fold.Table, func(...any)) error { return nil },
	}
}

var errEmpty = errors.New("empty")

func notEmpty(v string) error {
	if v == "" {
		return errEmpty
	}
	return nil
}

func TestCheckNamesWhatDoesNotFit(t *testing.T) {
	if err := sound().Check(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Analysis){
		"lacks a name":          func(a *Analysis) { a.Reduce = nil },
		"its defaults":          func(a *Analysis) { a.Params[0].Default = "" },
		"stream 1":              func(a *Analysis) { a.Streams[1].Name = "r" },
		"after a fact stream":   func(a *Analysis) { slices.Reverse(a.Streams) },
		"columns do not fit":    func(a *Analysis) { a.Streams[0].Schema = nil },
		"bad table spec":        func(a *Analysis) { a.Tables[0].Aggs = nil },
		"table 0 needs another": func(a *Analysis) { a.Tables[0].Name = "rejected" },
		"waits for stream":      func(a *Analysis) { a.Tables[0].Stream = "nowhere" },
		"columns":               func(a *Analysis) { a.Queries[0].Columns = nil },
		"the tables are t":      func(a *Analysis) { a.Queries[0].Tables = []string{"u"} },
		"each column is one of": func(a *Analysis) { a.NewParser, a.Streams[1].Columns = nil, Columns("x", "y") },
		"downloads from column": func(a *Analysis) { a.Queries[0].Download = "url" },
	} {
		a := sound()
		spoil(a)
		if err := a.Check(); !errors.Is(err, ErrBadAnalysis) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestArgsFillInDefaultsAndNameWhatIsWrong(t *testing.T) {
	a := sound()
	args, err := a.Args(map[string]string{"q": "7"})
	if err != nil || !slices.Equal(args, Args{"1", "7"}) {
		t.Fatalf("%v %v", args, err)
	}
	if _, err := a.Args(map[string]string{"p": ""}); !errors.Is(err, ErrBadParam) || !errors.Is(err, errEmpty) {
		t.Error(err)
	}
	if _, err := a.Args(map[string]string{"z": ""}); !errors.Is(err, ErrBadParam) || !strings.Contains(err.Error(), "p, q") {
		t.Error(err)
	}
	if _, err := (&Analysis{Name: "b"}).Args(map[string]string{"z": ""}); err == nil || !strings.Contains(err.Error(), "no parameters") {
		t.Error(err)
	}
}

// TestArgsAreCheckedAgain: a node gets args from the network, where they may be forged.
func TestArgsAreCheckedAgain(t *testing.T) {
	params := []Param{{Name: "top", Check: Integer(1, 5)}, {Name: "free"}}
	if err := (Args{"5", ""}).Check(params); err != nil {
		t.Error(err)
	}
	for want, args := range map[string]Args{
		`bad parameter: 0 values for 2 parameters`:               nil,
		`bad parameter: 3 values for 2 parameters`:               {"1", "2", "3"},
		`bad parameter: top is "6": give an integer from 1 to 5`: {"6", ""},
	} {
		if err := args.Check(params); !errors.Is(err, ErrBadParam) || err.Error() != want {
			t.Errorf("%q: %v, want %s", args, err, want)
		}
	}
}

func TestSetFindsByName(t *testing.T) {
	s := Set{sound(), {Name: "b"}}
	if a, err := s.Find("b"); err != nil || a != s[1] {
		t.Error(err)
	}
	if _, err := s.Find("c"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "a, b") {
		t.Error(err)
	}
}

func TestMatchTellsWhatStarsStandFor(t *testing.T) {
	for _, c := range []struct {
		files, path, name string
		tags              []string
	}{
		{"*/trips.csv", "montreal/trips.csv", "montreal/trips.csv", []string{"montreal"}},
		{"*/trips.csv", "montreal/trips.csv.gz", "montreal/trips.csv", []string{"montreal"}},
		{"*/trips.csv", "montreal/trips.csv//home/2016.jsonl", "montreal/trips.csv//home/2016.jsonl", []string{"montreal"}},
		{"*/trips.csv", "a\nb/trips.csv", "a\nb/trips.csv", []string{"a\nb"}},
		{"*/trips.csv", "a/b/trips.csv", "", nil},
		{"*/trips.csv", "/trips.csv", "", nil},
		{"*/trips.csv", "a/tripsxcsv", "", nil},
		{"*/trips.csv", "a/trips.csv.bak", "", nil},
		{"ratings.csv", "ratings.csv", "ratings.csv", []string{}},
		{"ratings.csv", "x/ratings.csv", "", nil},
		{"*/part-*.csv", "a/part-7.csv", "a/part-7.csv", []string{"a", "7"}},
		{"\xff*", "\xffa", "", nil},
	} {
		f, ok := (&Stream{Files: c.files}).Match(c.path)
		if ok != (c.tags != nil) || f.Name != c.name || !slices.Equal(f.Tags, c.tags) {
			t.Errorf("%s of %s: %v %q %q", c.path, c.files, ok, f.Name, f.Tags)
		}
	}
}

// TestMatchIsThatOfARegularExpression compares Match with the simplest equivalent, over names made of few pieces, so that many match.
func TestMatchIsThatOfARegularExpression(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(pieces ...string) (s string) {
		for range r.IntN(8) {
			s += pieces[r.IntN(len(pieces))]
		}
		return s
	}
	fitted, several := 0, 0
	for range 10_000 {
		files, name := text("*", "*", "a", "b", "/", ".", "é", "("), text("a", "a", "b", "/", ".", "é", "(", "\n", "\xc3", "\xa9")
		place, _, _ := strings.Cut(name, "//") // the text after // only distinguishes files
		parts := strings.Split(files, "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		want := regexp.MustCompile(`(?s)^` + strings.Join(parts, `([^/]+?)`) + `$`).FindStringSubmatch(place)
		f, ok := (&Stream{Files: files}).Match(name)
		if ok != (want != nil) || ok && (f.Name != name || !slices.Equal(f.Tags, want[1:])) {
			t.Fatalf("%q of %q: %v %q %q, want %q", name, files, ok, f.Name, f.Tags, want)
		}
		if ok {
			fitted++
			if len(f.Tags) > 1 {
				several++
			}
		}
	}
	if fitted < 100 || several < 50 {
		t.Errorf("%d names fitted, %d of them more than one star: the comparison has shown too little", fitted, several)
	}
}
