package local

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/fold"
)

// words counts how often each word of list*.csv occurs in text*.csv. The first replica emits the list itself.
func words() *analyses.Analysis {
	schema := []batch.FieldSpec{{Name: "word", Kind: batch.Dict}}
	column := []analyses.Column{{Name: "word"}}
	return &analyses.Analysis{
		Name: "words",
		Streams: []analyses.Stream{
			{Name: "list", Reference: true, Files: "list*.csv", Columns: column, Schema: schema},
			{Name: "text", Files: "text*.csv", Columns: column, Schema: schema},
		},
		Tables: []fold.Spec{{Name: "words", Stream: "text", Keys: []fold.Key{{Name: "word", Kind: fold.KeyText}},
			Aggs: []fold.Agg{{Name: "listed", Kind: fold.Sum}, {Name: "found", Kind: fold.Sum}}}},
		Queries: []analyses.Query{{Name: "words", Columns: []string{"word", "listed", "found"}, Tables: []string{"words"}}},
		NewParser: func(_ analyses.Args, _ int, _ analyses.File, b *batch.Builder) (func([][]byte) error, error) {
			return func(f [][]byte) error {
				b.Dict(0).Append(f[0])
				if len(f[0]) == 0 {
					return errors.New("word is empty")
				}
				return nil
			}, nil
		},
		Faster: analyses.Faster{ReferenceLater: true},
		NewJoiner: func(_ analyses.Args, r analyses.Replica) (analyses.Joiner, error) {
			return &wordJoiner{replica: r, known: map[string]bool{}, count: map[string][2]int64{}}, nil
		},
		Reduce: func(_ analyses.Args, _ int, tables []*fold.Table, emit func(...any)) error {
			for _, row := range tables[0].Sorted(nil) {
				emit(string(tables[0].KeyText(row, 0)), tables[0].Sum(row, 0), tables[0].Sum(row, 1))
			}
			return nil
		},
	}
}

type wordJoiner struct {
	replica analyses.Replica
	known   map[string]bool
	count   map[string][2]int64
}

var errPoison = errors.New("poison")

func (j *wordJoiner) add(b *batch.Batch, f func(word string) error) error {
	d := b.Dicts(0)
	for row := range b.Rows() {
		if err := f(string(d.Entry(int(d.Code(row))))); err != nil {
			return err
		}
	}
	return nil
}

func (j *wordJoiner) Reference(_ int, b *batch.Batch, _ analyses.Position) error {
	return j.add(b, func(w string) error {
		j.known[w] = true
		if n := j.count[w]; j.replica.Index == 0 {
			j.count[w] = [2]int64{n[0] + 1, n[1]}
		}
		return nil
	})
}

func (j *wordJoiner) Facts(_ int, b *batch.Batch, _ analyses.Position) error {
	return j.add(b, func(w string) error {
		if w == "poison" {
			return errPoison
		}
		if n := j.count[w]; j.known[w] {
			j.count[w] = [2]int64{n[0], n[1] + 1}
		}
		return nil
	})
}

func (j *wordJoiner) End(int) error { return nil }

func (j *wordJoiner) Flush(tables []*fold.Table) error {
	for w, n := range j.count {
		row := tables[0].Row(tables[0].Key().String(w))
		tables[0].AddSum(row, 0, n[0])
		tables[0].AddSum(row, 1, n[1])
	}
	clear(j.count)
	return nil
}

func file(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

func zipped(t *testing.T, s string) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

func TestEveryRowCountsOnceWhateverIsDrawn(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "%d,w%d\n", i, i%7)
	}
	fsys := fstest.MapFS{
		"list1.csv":    file("word\nw1\nw2\nw2\n\"\"\nw9"),
		"list2.csv":    file("x,word\n,w3\n"),
		"text1.csv":    file("n,word\n" + text.String() + ",\n"),
		"text2.csv.gz": zipped(t, "n,word\r\n"+text.String()+"short"),
		"other.csv":    file("nothing"),
	}
	for seed := uint64(0); seed < 40; seed++ {
		ans, err := Run(words(), fsys, Options{Seed: seed, Joiners: int(seed % 4), Aggregators: int(seed % 3), ChunkBytes: 1 + int(seed)*40})
		if err != nil {
			t.Fatal(err)
		}
		want := "[[w1 1 286] [w2 2 286] [w3 1 286] [w9 1 0]]"
		if got := fmt.Sprint(ans.Queries[0].Rows); got != want {
			t.Fatalf("seed %d: %s, want %s", seed, got, want)
		}
		if got := fmt.Sprint(ans.Rejected); got != "[{list {1 [{list1.csv 5 word is empty}] []}} "+
			"{text {2 [{text1.csv 1002 word is empty} {text2.csv 1002 row has 1 field, and the header has 2}] []}}]" {
			t.Fatalf("seed %d: %s", seed, got)
		}
	}
}

func TestWhatIsWrongWithFilesIsNamed(t *testing.T) {
	list := file("word\nw1\n")
	for name, c := range map[string]struct {
		fsys fstest.MapFS
		want error
		text string
	}{
		"no file":     {fstest.MapFS{"list1.csv": list}, ErrNoFile, "text"},
		"no column":   {fstest.MapFS{"list1.csv": list, "text1.csv": file("n\n")}, parse.ErrFile, "text1.csv"},
		"empty":       {fstest.MapFS{"list1.csv": list, "text1.csv": file("")}, csv.ErrHeader, "text1.csv"},
		"no gzip":     {fstest.MapFS{"list1.csv": list, "text1.csv.gz": file("word\nw1\nw1\nw1\n")}, gzip.ErrHeader, "text1.csv.gz"},
		"second file": {fstest.MapFS{"list1.csv": list, "text1.csv": file("word\n"), "text2.csv": file("n\n")}, parse.ErrFile, "text2.csv"},
		"both": {fstest.MapFS{"list1.csv": list, "list10.csv": list, "list1.csv.gz": zipped(t, "word\n")}, ErrDuplicateKey,
			"list1.csv.gz"},
		"joiner's fail": {fstest.MapFS{"list1.csv": list, "text1.csv": file("word\npoison\n")}, errPoison, "stream text"},
	} {
		_, err := Run(words(), c.fsys, Options{})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	cut := zipped(t, "word\n"+strings.Repeat("w1\n", 100000))
	cut.Data = cut.Data[:len(cut.Data)-20]
	if _, err := Run(words(), fstest.MapFS{"list1.csv": list, "text1.csv.gz": cut}, Options{}); err == nil {
		t.Error("a cut gzip file is taken for whole")
	}
}

// TestABrokenPromiseIsNamed: if other joiners than the first emit reference rows, these would be missing in joiners that get no
// facts.
func TestABrokenPromiseIsNamed(t *testing.T) {
	fsys := fstest.MapFS{"list1.csv": file("word\nw1\n"), "text1.csv": file("word\nw1\nw1\n")}
	for _, promised := range []bool{false, true} {
		a := words()
		a.ReferenceLater = promised
		first := a.NewJoiner
		a.NewJoiner = func(args analyses.Args, r analyses.Replica) (analyses.Joiner, error) {
			return first(args, analyses.Replica{Index: (r.Index + 1) % 2, Of: r.Of}) // the second joiner emits them
		}
		failed := false
		for seed := uint64(1); seed < 10 && !failed; seed++ {
			_, err := Run(a, fsys, Options{Seed: seed, Joiners: 2})
			if err != nil && !errors.Is(err, errPromise) {
				t.Fatal(err)
			}
			failed = err != nil
		}
		if failed != promised {
			t.Errorf("promised %v: refused %v", promised, failed)
		}
	}
}

func TestBadAnalysesAndParametersAreRefused(t *testing.T) {
	if _, err := Run(&analyses.Analysis{}, fstest.MapFS{}, Options{}); !errors.Is(err, analyses.ErrBadAnalysis) {
		t.Error(err)
	}
	if _, err := Run(words(), fstest.MapFS{}, Options{Params: map[string]string{"x": ""}}); !errors.Is(err, analyses.ErrBadParam) {
		t.Error(err)
	}
}
