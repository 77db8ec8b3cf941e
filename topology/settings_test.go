package topology

import (
	"errors"
	"strings"
	"testing"
)

// TestSettingsTable: every default is in its range, and every text comes back as it was.
func TestSettingsTable(t *testing.T) {
	for _, s := range settings {
		for _, text := range append([]string{s.def, s.least, s.most}, s.words...) {
			if text == "" && s.least == "" {
				continue
			}
			var tp Topology
			if err := s.set(&tp, text); err != nil {
				t.Errorf("%s = %s: %v", s.key(), text, err)
			}
			if got := s.text(&tp); got != text {
				t.Errorf("%s = %s comes back as %s", s.key(), text, got)
			}
		}
		for _, text := range []string{"", "x", "-1", "-1s", "99999999999999999999"} {
			if s.key() == "security.keys" && text != "" || s.key() == "medics.console" && text == "" {
				continue // a directory may be called so, and nobody has to serve the console
			}
			if err := s.set(&Topology{}, text); err == nil {
				t.Errorf("%s takes %q", s.key(), text)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{"0B": 0, "1B": 1, "1024B": KiB, "3 KiB": 3 * KiB, "4MiB": 4 * MiB,
		"8589934591GiB": 8589934591 * giB} {
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
		if again, err := ParseSize(got.String()); err != nil || again != got {
			t.Errorf("%s is written as %s and read as %d, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "4", "MiB", "4MB", "4mib", "-1B", "1.5MiB", "8589934592GiB", "99999999999999999999B", "4MiB\n"} {
		if n, err := ParseSize(text); !errors.Is(err, errSizeForm) {
			t.Errorf("%q is read as %d, %v", text, n, err)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"route", "rout", 1}, {"route", "rotue", 1}, {"joiner", "jioner", 1}, {"abc", "xyz", 3}, {"", "ab", 2},
		{strings.Repeat("a", 100), "a", 64}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
