package eval

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
)

// domain is the expression that takes the domain from a URL.
const domain = `^https?://(?:www\.)?([^/]+)/.*$`

// walked compares a walk with what package regexp finds, and reports whether there was a walk to its end.
func walked(t *testing.T, expression, text string) (done bool) {
	t.Helper()
	re, err := regexp.Compile(expression)
	if err != nil {
		return false
	}
	w := newWalker(expression)
	if w == nil {
		return false
	}
	for range 2 {
		got, ok := w.first(text)
		if want := re.FindStringSubmatchIndex(text); ok && (!slices.Equal(got, want) || (got == nil) != (want == nil)) {
			t.Fatalf("%q in %q: %v, and not %v", expression, text, got, want)
		}
		done = ok
	}
	return done
}

// TestWalksFindWhatRegexpFinds: in random expressions and texts, of characters of one and more bytes and of bytes that are no character.
func TestWalksFindWhatRegexpFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	parts := []string{"a", "b", "/", ".", "[^/]", "[ab]", "é", "[^a]", "[b-é]", "(", ")", "(?:", "|", "*", "+", "?", "*?", "+?", "$", "^", `\n`,
		"(?i:k)", "(?m:$)", "(?m:^)", "(?s:.)", "{2}", "{0,3}", `\z`, "[[:alpha:]]", `\x{FFFD}`}
	bytes := []string{"a", "b", "/", "é", "\n", "K", "\u212a", "\xff", "\xc3", "\xa9", "aaaa", "\ufffd"}
	of := func(from []string, n int) (s string) {
		for range r.IntN(n) {
			s += from[r.IntN(len(from))]
		}
		return s
	}
	walks := 0
	for range 40_000 {
		expression := []string{"^", "", "a", "/b", "aé", "(a", "a(b", "(?:ab)"}[r.IntN(8)] + of(parts, 9)
		for range 4 {
			if walked(t, expression, of(bytes, 12)) {
				walks++
			}
		}
	}
	if walks < 20_000 {
		t.Errorf("only %d walks came to their end", walks)
	}
}

// TestWalksThatAreMade: expressions that take a text apart are walked to the end, others are not.
func TestWalksThatAreMade(t *testing.T) {
	for _, text := range []string{"http://www.a.b/c?d", "https://a/", "https://www./x", "http://a", "ftp://a/", "", "http://www.é/\n"} {
		if !walked(t, domain, text) {
			t.Errorf("no walk in %q", text)
		}
	}
	for _, expression := range []string{"a|b", "a?", "(?i)a", "[ab]c", "(?m)^a", `^a\b`, `a\b`, "^a|b"} {
		if newWalker(expression) != nil {
			t.Errorf("%q is walked", expression)
		}
	}
	long := make([]byte, walkerText+1)
	if _, ok := newWalker("^a").first(string(long)); ok {
		t.Error("a long text is walked")
	}
	text := ""
	for range 60 {
		text += "a"
	}
	if _, ok := newWalker("^(aa|aaa|a)*b").first(text); ok {
		t.Error("a walk of 2^60 steps came to its end")
	}
}

func FuzzWalker(f *testing.F) {
	f.Add(domain, "http://www.a.b/c?d")
	f.Add("^(a*)*b|(é+)$", "aé\xffb")
	f.Fuzz(func(t *testing.T, expression, text string) {
		if len(expression) < 100 && len(text) < 1000 {
			walked(t, expression, text)
		}
	})
}

func BenchmarkPrefix(b *testing.B) {
	const text, expression = "https://old.reddit.example/r/meirl/comments/ot3isq/some_title/h6tzc5w/", "/comments/([^/?#]*)"
	re, w := regexp.MustCompile(expression), newWalker(expression)
	b.Run("regexp", func(b *testing.B) {
		for b.Loop() {
			re.FindStringSubmatchIndex(text)
		}
	})
	b.Run("walker", func(b *testing.B) {
		for b.Loop() {
			w.first(text)
		}
	})
}

func BenchmarkDomain(b *testing.B) {
	const text = "http://www.example-site.com/catalog/42/items.html?page=7&sort=price"
	re, w := regexp.MustCompile(domain), newWalker(domain)
	b.Run("regexp", func(b *testing.B) {
		for b.Loop() {
			re.FindStringSubmatchIndex(text)
		}
	})
	b.Run("walker", func(b *testing.B) {
		for b.Loop() {
			w.first(text)
		}
	})
}
