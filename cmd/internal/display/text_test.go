package display

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"plain":                  "plain",
		"Rivière-aux-Saules":     "Rivière-aux-Saules",
		"東京 🚲":                   "東京 🚲",
		"two\nlines":             `two\nlines`,
		"a\x1b[2Jb":              `a\x1b[2Jb`,
		"a\x00b\x7f":             `a\x00b\x7f`,
		"bad \xff byte":          `bad \xff byte`,
		"right\u202eleft":        `right\u202eleft`,
		"zero\u200bwidth":        `zero\u200bwidth`,
		"c1 \u009b31m":           `c1 \u009b31m`,
		"replacement \ufffd":     "replacement \ufffd",
		"back\\slash \"quoted\"": "back\\slash \"quoted\"",
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("a\x1b[2J\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		out := Escape(s)
		if !utf8.ValidString(out) {
			t.Fatalf("%q is not UTF-8", out)
		}
		for _, r := range out {
			if !printable(r) {
				t.Fatalf("%q holds %U", out, r)
			}
		}
		if cut := Cut(out, 10); Width(cut) > 10 || !utf8.ValidString(cut) {
			t.Fatalf("cut to %q, %d cells", cut, Width(cut))
		}
	})
}

func TestWidthAndCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		cut   string // to 5 cells
	}{
		{"", 0, ""}, {"abcde", 5, "abcde"}, {"abcdef", 6, "abcd…"}, {"Émile", 5, "Émile"}, {"e\u0301tude", 5, "e\u0301tude"},
		{"東京", 4, "東京"}, {"東京都", 6, "東京…"}, {"🚲🚲🚲", 6, "🚲🚲…"},
	} {
		if got := Width(c.text); got != c.width {
			t.Errorf("Width(%q) = %d, want %d", c.text, got, c.width)
		}
		if got := Cut(c.text, 5); got != c.cut {
			t.Errorf("Cut(%q, 5) = %q, want %q", c.text, got, c.cut)
		}
	}
}

func TestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0ms", 0: "0ms", 999 * time.Millisecond: "999ms", 1250 * time.Millisecond: "1.2s", 59 * time.Second: "59s",
		185 * time.Second: "3m05s", 2*time.Hour + 7*time.Minute: "2h07m", 123 * time.Hour: "5d03h",
	} {
		if got := Span(d); got != want {
			t.Errorf("Span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestTableAligns(t *testing.T) {
	table := Table{
		Head: []string{"station", "trips", "note"}, Right: []bool{false, true},
		Rows: [][]string{{"Émile", "7", "x"}, {"東京", "12345", ""}, {"two\nlines", "0", strings.Repeat("y", 20)}}, Most: 12,
	}
	want := `station     trips  note
Émile           7  x
東京        12345
two\nlines      0  yyyyyyyyyyy…`
	if got := strings.Join(table.Lines(), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableWithRowsOfAnyLength(t *testing.T) {
	table := Table{Head: []string{"a"}, Rows: [][]string{{}, {"1", "2", "3"}}}
	if got := table.Lines(); len(got) != 3 || got[1] != "" || got[2] != "1  2  3" {
		t.Errorf("got %q", got)
	}
}

func TestETA(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "1s", 686 * time.Millisecond: "1s", 3600 * time.Millisecond: "4s", 9700 * time.Millisecond: "10s", 12 * time.Second: "10s",
		58 * time.Second: "1m00s", 63 * time.Second: "1m00s",
		3*time.Minute + 17*time.Second: "3m20s", 9*time.Minute + 58*time.Second: "10m00s", 12*time.Minute + 40*time.Second: "13m",
		59*time.Minute + 50*time.Second: "1h00m",
		3*time.Hour + 8*time.Minute:     "3h10m", 30*time.Hour + 20*time.Minute: "1d06h", 1e6 * time.Second: "11d14h",
	} {
		if got := ETA(d); got != want {
			t.Errorf("ETA(%v) = %q, want %q", d, got, want)
		}
	}
}
