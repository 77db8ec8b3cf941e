package gen

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func memes(t testing.TB, rows int, seed uint64) memory {
	t.Helper()
	m := memory{}
	if err := Memes(m, rows, seed); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMemesDependOnRowsAndSeedAlone(t *testing.T) {
	a, b, other := memes(t, 5000, 3), memes(t, 5000, 3), memes(t, 5000, 4)
	for name := range a {
		if !bytes.Equal(a[name].Bytes(), b[name].Bytes()) {
			t.Errorf("%s differs between two runs", name)
		}
		if bytes.Equal(a[name].Bytes(), other[name].Bytes()) {
			t.Errorf("%s does not depend on the seed", name)
		}
	}
	pinned(t, a, pinnedMemes)
}

func TestMemesAreAsManyAsAskedFor(t *testing.T) {
	for _, rows := range []int{0, 1, 500, 12345} {
		p := memes(t, rows, 1)["comments.csv"].Bytes()
		if n := bytes.Count(p, []byte("\ncomment,")) + bytes.Count(p, []byte("\n\"broken\"")); n != rows {
			t.Errorf("%d rows, want %d", n, rows)
		}
	}
}

func TestMemesHaveTheirQuirks(t *testing.T) {
	m := memes(t, 40000, 1)
	posts, comments := m["posts.csv"].String(), m["comments.csv"].String()
	for what, ok := range map[string]bool{
		"posts without url":     strings.Contains(posts, ",self.meirl,,"),
		"older versions":        strings.Contains(posts, ",400000\n"),
		"lost urls":             strings.Contains(posts, ",500001\n"),
		"short permalinks":      strings.Contains(posts, ",/r/meirl/comments/"),
		"permalink with query":  strings.Contains(posts, "?x=/comments/y,"),
		"empty id":              strings.Contains(posts, "/comments//"),
		"titles in two lines":   strings.Contains(posts, "\"\"irl\"\"\n"),
		"no last newline":       !strings.HasSuffix(comments, "\n"),
		"quoted bodies":         strings.Contains(comments, "\"\"trust me\"\""),
		"UTF-8":                 strings.Contains(comments, "’s"),
		"not UTF-8":             strings.Contains(comments, "\xe9"),
		"deleted":               strings.Contains(comments, ",[deleted],,"),
		"deleted, happy":        strings.Contains(comments, ",[deleted],0."),
		"empty body":            strings.Contains(comments, ",,,"),
		"not quite deleted":     strings.Contains(comments, ",[Deleted],"),
		"dotted capital":        strings.Contains(comments, "UNİVERSITY"),
		"long s":                strings.Contains(comments, "ſtudent"),
		"many digits":           strings.Contains(comments, ",0.33333333333333331,"),
		"exponents":             strings.Contains(comments, ",2.5e-1,"),
		"no sentiment":          strings.Contains(comments, ",same,,"),
		"the happiest":          strings.Count(comments, ",0.9987,") > 5,
		"bodies over two lines": strings.Contains(comments, "nobody:\n\nme"),
		"broken quotes":         strings.Contains(posts, "\"broken\" post") && strings.Contains(comments, "\"broken\" comment"),
	} {
		if !ok {
			t.Errorf("there is no %s", what)
		}
	}
}

func TestMemesReportErrorsOfTheDisk(t *testing.T) {
	for _, left := range []int{0, 300 << 10, 1 << 20} {
		if err := Memes(&full{left}, 20000, 1); !errors.Is(err, errFull) {
			t.Errorf("full after %d bytes: %v", left, err)
		}
	}
	if err := Memes(memory{}, -1, 1); err == nil {
		t.Error("a negative number of rows is taken")
	}
}

func BenchmarkMemes(b *testing.B) {
	const rows = 1 << 18
	var d nothing
	for b.Loop() {
		d.n = 0
		if err := Memes(&d, rows, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(d.n)
	b.ReportMetric(float64(d.n)/rows, "B/row")
}
