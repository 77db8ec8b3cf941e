package gen

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func movies(t testing.TB, rows int, seed uint64) memory {
	t.Helper()
	m := memory{}
	if err := Movies(m, rows, seed); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMoviesDependOnRowsAndSeedAlone(t *testing.T) {
	a, b, other := movies(t, 5000, 3), movies(t, 5000, 3), movies(t, 5000, 4)
	for name := range a {
		if !bytes.Equal(a[name].Bytes(), b[name].Bytes()) {
			t.Errorf("%s differs between two runs", name)
		}
		if bytes.Equal(a[name].Bytes(), other[name].Bytes()) {
			t.Errorf("%s does not depend on the seed", name)
		}
	}
	pinned(t, a, pinnedMovies)
}

func TestRatingsAreAsManyAsAskedFor(t *testing.T) {
	for _, rows := range []int{0, 1, 500, 12345} {
		if n := bytes.Count(movies(t, rows, 1)["ratings.csv"].Bytes(), []byte("\r\n")) - 1; n != rows {
			t.Errorf("%d rows, want %d", n, rows)
		}
	}
}

func TestMoviesHaveTheirQuirks(t *testing.T) {
	m := movies(t, 40000, 1)
	films, ratings, credits := m["movies_metadata.csv"].String(), m["ratings.csv"].String(), m["credits.csv"].String()
	for what, ok := range map[string]bool{
		"byte order mark":     strings.HasPrefix(films, "\xef\xbb\xbfadult,"),
		"rows in three lines": strings.Contains(films, "\n - the second,0.065736,"),
		"later versions":      strings.Contains(films, ",Second "),
		"rejected versions":   strings.Contains(films, ",Rejected,"),
		"bad ids":             strings.Contains(films, ",http://example.org/,tt0113497,"),
		"empty ids":           strings.Contains(films, ",http://example.org/,,"),
		"bad dates":           strings.Contains(films, ",1995-02-30,"),
		"bad budgets":         strings.Contains(films, `",/ff9qCepilowshEtG2GYWwzt2bs4.jpg,`),
		"NaN":                 strings.Contains(films, `",NaN,`),
		"cents":               strings.Contains(films, ".25,"),
		"debts":               strings.Contains(films, `",-`),
		"exponents":           strings.Contains(films, ",2.5e+5,"),
		"large ratios":        strings.Contains(films, ",1e-300,"),
		"empty overviews":     strings.Contains(films, ",en,Original,,"),
		"spaces as overviews": strings.Contains(films, ",en,Original, ,"),
		"empty titles":        strings.Contains(films, ",Released,,,False"),
		"titles of two lines": strings.Contains(films, "\"Two\nLines\""),
		"overviews of lines":  strings.Contains(films, ".\nTo be continued."),
		"emoji":               strings.Contains(films, "😀"),
		"no genres":           strings.Contains(films, ",[],http:"),
		"no countries":        strings.Contains(films, ",[],19"),
		"apostrophes":         strings.Contains(films, `""Director's Cut""`) && strings.Contains(films, `Children\'s`),
		"escapes":             strings.Contains(films, `C\xf4te d\'Ivoire`),
		"no list":             strings.Contains(films, ",False,http:") || strings.Contains(credits, "\nFalse,"),
		"open literals":       strings.Contains(films+credits, "'Open]"),
		"CRLF":                strings.Contains(ratings, ",4.0,12607") && strings.HasSuffix(ratings, "\r\n"),
		"odd ratings":         strings.Contains(ratings, ",+2.5,") && strings.Contains(ratings, `,"4.0",`),
		"unknown movies":      strings.Contains(ratings, ",10000"),
		"ratings in words":    strings.Contains(ratings, ",five,"),
		"short rows":          strings.Contains(ratings, "\r\n7\r\n"),
		"broken quotes":       strings.Contains(ratings, `"1" x,`) && strings.Contains(credits, `"[]" x,`),
		"no last newline":     !strings.HasSuffix(credits, "\n"),
		"empty casts":         strings.Contains(credits, "\n[],"),
		"both quotes":         strings.Contains(credits, `'It\'s ""Both""'`),
		"other alphabets":     strings.Contains(credits, "中村 光"),
		"prefixes":            strings.Contains(credits, "u'Ulla'"),
		"second names":        strings.Contains(credits, "A. K. Aka"),
		"nested values":       strings.Contains(credits, "(1, 2.5)"),
		"None":                strings.Contains(credits, "'profile_path': None"),
		"other keys":          strings.Contains(credits, "{'name': "),
	} {
		if !ok {
			t.Errorf("there is no %s", what)
		}
	}
}

func TestMoviesReportErrorsOfTheDisk(t *testing.T) {
	for _, left := range []int{0, 300 << 10, 1 << 20} {
		if err := Movies(&full{left}, 20000, 1); !errors.Is(err, errFull) {
			t.Errorf("full after %d bytes: %v", left, err)
		}
	}
	if err := Movies(memory{}, -1, 1); err == nil {
		t.Error("a negative number of rows is taken")
	}
}

func BenchmarkMovies(b *testing.B) {
	const rows = 1 << 18
	var d nothing
	for b.Loop() {
		d.n = 0
		if err := Movies(&d, rows, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(d.n)
	b.ReportMetric(float64(d.n)/rows, "B/row")
}
