package words

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// lower is strings.ToLower, except that it does not change bytes that are not UTF-8.
func lower(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError {
			b.WriteString(s[:size])
		} else {
			b.WriteRune(unicode.ToLower(r))
		}
		s = s[size:]
	}
	return b.String()
}

func contains(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(lower(text), lower(w)) {
			return true
		}
	}
	return false
}

// letters are so few that random words of them occur in random texts of them, in all cases.
var letters = []string{"a", "A", "b", "B", "k", "K", "\u212a", "i", "I", "\u0130", "ı", "é", "É", "ſ", "s", "\xff", "!", "\x01", "`",
	"@", "[", "{"}

func drawn(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(letters[r.IntN(len(letters))])
	}
	return b.String()
}

func TestMatcherFindsWhatLowerCaseContains(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	found := 0
	for range 30000 {
		var words []string
		for range 1 + r.IntN(4) {
			if w := drawn(r, 1+r.IntN(4)); utf8.ValidString(w) {
				words = append(words, w)
			}
		}
		if words == nil {
			continue
		}
		text := drawn(r, r.IntN(20)) + strings.Repeat(" ", r.IntN(2)*r.IntN(100)) + drawn(r, r.IntN(20))
		want := contains(text, words)
		if got := New(words).In([]byte(text)); got != want {
			t.Fatalf("%q in %q: %v, want %v", words, text, got, want)
		}
		if want {
			found++
		}
	}
	if found < 3000 || found > 27000 {
		t.Errorf("%d of 30000 found, which proves little", found)
	}
}

// TestMatcherFindsWordsWhereverTheyAre: at every place of a text, whatever its neighbours are.
func TestMatcherFindsWordsWhereverTheyAre(t *testing.T) {
	words := []string{"university", "college", "student", "teacher", "professor"}
	f := New(words)
	fill := "stuteaproteachestudenprofessuniversitcolleg and not a word in what is behind it for 64 bytes or some more"
	for _, w := range words {
		for _, form := range []string{w, strings.ToUpper(w), strings.ToUpper(w[:1]) + w[1:]} {
			for at := range fill {
				if text := fill[:at] + form + fill[at:]; !f.In([]byte(text)) {
					t.Fatalf("%s is not found in %s", form, text)
				}
				if text := fill[:at] + form[:len(form)-1] + "." + form[len(form)-1:] + fill[at:]; f.In([]byte(text)) != contains(text, words) {
					t.Fatalf("%s", text)
				}
			}
		}
	}
}

func TestMatcherOfLongAndGrowingWords(t *testing.T) {
	long := strings.Repeat("ȺB", 66) // its lower case has one more byte per pair: longer than a shift may be
	f := New([]string{long})
	if !f.In([]byte(strings.Repeat("x", 500)+strings.ToLower(long)+"y")) || !f.In([]byte(long)) || f.In([]byte(long[1:])) {
		t.Error("a word of 264 bytes is not found")
	}
}

func FuzzMatcher(f *testing.F) {
	f.Add("college,K", "COLLEGE \u212a")
	f.Fuzz(func(t *testing.T, list, text string) {
		words := strings.Split(list, ",")
		if slices.Contains(words, "") || strings.ContainsRune(list, utf8.RuneError) {
			return
		}
		if got, want := New(words).In([]byte(text)), contains(text, words); got != want {
			t.Fatalf("%q in %q: %v, want %v", words, text, got, want)
		}
	})
}

func TestBeyondASCIILooksAtEveryByte(t *testing.T) {
	for size := range 40 {
		text := []byte(strings.Repeat("a", size))
		if beyondASCII(text) {
			t.Fatalf("%d letters are beyond ASCII", size)
		}
		for i := range text {
			text[i] = 0x80
			if !beyondASCII(text) {
				t.Fatalf("byte %d of %d is not seen", i, size)
			}
			text[i] = 'a'
		}
	}
}

// TestBothWaysToLook: with prefixes and without them.
func TestBothWaysToLook(t *testing.T) {
	if !hasPrefixes {
		t.Log("this machine has no AVX2: there is one way")
	}
	r := rand.New(rand.NewPCG(2, 2))
	for range 5000 {
		var words []string
		for range 1 + r.IntN(12) {
			if w := drawn(r, 3+r.IntN(2)); utf8.ValidString(w) && len(appendLower(nil, []byte(w))) >= prefixBytes {
				words = append(words, w)
			}
		}
		if words == nil {
			continue
		}
		f := New(words)
		text := []byte(strings.Repeat("x", r.IntN(70)) + drawn(r, r.IntN(3)*r.IntN(50)))
		if r.IntN(2) == 0 {
			text = append(text, words[r.IntN(len(words))]...)
		}
		text = append(text, strings.Repeat("y", r.IntN(70))...)
		found, beyond := f.look(text)
		if want := f.search(text); found != want || !found && beyond != beyondASCII(text) {
			t.Fatalf("%q in %q: %v, want %v; beyond ASCII: %v", words, text, found, want, beyond)
		}
	}
}

func BenchmarkMatcher(b *testing.B) {
	f := New([]string{"university", "college", "student", "teacher", "professor"})
	text := []byte("It is worse if you are a man, and I laughed more than I should have. Source: it came to me")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if f.In(text) {
			b.Fatal("found")
		}
	}
}
