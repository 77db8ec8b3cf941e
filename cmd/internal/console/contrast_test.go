package console

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestColoursHaveContrast computes the contrast of what the style puts on each other, as WCAG 2.1 does: 4.5 for text, 3 for what is not
// text (AA).
func TestColoursHaveContrast(t *testing.T) {
	b, err := files.ReadFile("page/style.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, found := strings.Cut(string(b), "@media (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("there is no dark scheme")
	}
	pairs := map[string][]string{ // text: what it stands on
		"text": {"page", "card", "deadcard", "blockedcard"}, "quiet": {"page", "card", "deadcard", "blockedcard"},
		"link": {"page", "card", "deadcard", "blockedcard"},
		"fine": {"page", "card"}, "care": {"page", "card"}, "blocked": {"page", "card", "blockedcard"}, "dead": {"page", "card", "deadcard"},
	}
	shapes := map[string][]string{"edge": {"page", "card", "deadcard", "blockedcard"}, "fill": {"card", "deadcard", "blockedcard"},
		"flow": {"card"}}
	for name, css := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]float64{}
		for _, m := range regexp.MustCompile(`--([a-z]+): #([0-9a-f]{6});`).FindAllStringSubmatch(css, -1) {
			colours[m[1]] = luminance(t, m[2])
		}
		for least, pairs := range map[float64]map[string][]string{4.5: pairs, 3: shapes} {
			for above, grounds := range pairs {
				for _, ground := range grounds {
					a, okA := colours[above]
					g, okG := colours[ground]
					if ratio := (max(a, g) + 0.05) / (min(a, g) + 0.05); !okA || !okG || ratio < least {
						t.Errorf("%s: %s on %s has a contrast of %.2f, want %v", name, above, ground, ratio, least)
					}
				}
			}
		}
		for colour := range colours {
			if pairs[colour] == nil && shapes[colour] == nil && !strings.Contains("page card rule deadcard blockedcard", colour) {
				t.Errorf("%s: nobody has looked at %s", name, colour)
			}
		}
	}
	if rest := regexp.MustCompile(`(?s)\* \{ box-sizing.*`).FindString(string(b)); regexp.MustCompile(`#[0-9a-f]{3,6}\b`).MatchString(rest) {
		t.Error("a colour stands outside of the two lists")
	}
	for _, word := range []string{"url(", "@import", "http"} {
		if strings.Contains(string(b), word) {
			t.Errorf("the style has %q: the page loads nothing from elsewhere", word)
		}
	}
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	part := func(shift uint) float64 {
		c := float64(n>>shift&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}
