package vader_test

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/analyses/internal/vader"
	"posta.dev/posta/test/oracle/vader"
)

func analyzers(t testing.TB) (*vader.Analyzer, *naive.Scorer) {
	t.Helper()
	a, err := vader.New()
	if err != nil {
		t.Fatal(err)
	}
	n, err := naive.New()
	if err != nil {
		t.Fatal(err)
	}
	return a, n
}

// bricks are words that the rules name, words of the lexicon, and texts that are hard to cut.
var bricks = strings.Split("good|GOOD|bad|Bad|great|horrible|love|hate|LOVE|no|No|not|isn't|ISN'T|don't|nor|or|never|so|so|this|without|"+
	"doubt|least|at|very|VERY|kind|of|sort|just|enough|but|But|the|shit|bomb|ass|bus|stop|yeah|right|kiss|death|to|die|for|beating|"+
	"broken|heart|hearts|really|REALLY|slightly|kind-of|uh-uh|a|movie|MOVIE|X|it|!|!!|?|??|:)|:-(|:D|:d|(good)|\"great\",|'no'|--|...|"+
	"good.|bad!|great?|é|É|café|GOODÉ|İ|KİLL|\u212aILL|good\x00|\x00|great\x1cbad|good\u00a0bad|❤|😀|😀good|good😀|©|ª|ǅ|\xff|go\xff|(ok)|-é-|"+
	"heartlessness|unsophisticatedly|incomprehensibilities|\u2019t|n't|'n't'|amp;|the bomb|bus stop|kiss of death|to die for|a kiss of "+
	"death|beating heart|broken heart|yeah right|just enough|sort of|"+
	"it is never so|without any doubt|no good or|the very least|at least|don\u2019t|catastrophic|absolutely|marvelous", "|")

func sentence(r *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		b.WriteString(bricks[r.IntN(len(bricks))])
		b.WriteString([]string{" ", " ", " ", " ", "  ", "\n", "\t", "", "\u2003"}[r.IntN(9)])
	}
	return b.String()
}

func TestScoresAreThoseOfTheNaiveImplementation(t *testing.T) {
	a, n := analyzers(t)
	r := rand.New(rand.NewPCG(1, 2))
	felt := 0
	for range 20000 {
		s := sentence(r, 1+r.IntN(30))
		got, want := a.Compound([]byte(s)), n.Compound(s)
		if got != want {
			t.Fatalf("%q: %v, want %v", s, got, want)
		}
		if got != 0 {
			felt++
		}
	}
	if felt < 10000 {
		t.Errorf("only %d texts have a score", felt)
	}
}

// TestLongTexts has texts with many feelings, which take another path.
func TestLongTexts(t *testing.T) {
	a, n := analyzers(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, words := range []int{100, 300, 1000, 1000, 3000} {
		s := sentence(r, words)
		if got, want := a.Compound([]byte(s)), n.Compound(s); got != want {
			t.Fatalf("%d words: %v, want %v", words, got, want)
		}
	}
}

// TestATextCannotTakeTheSquareOfItsLength would take hours if the time were quadratic.
func TestATextCannotTakeTheSquareOfItsLength(t *testing.T) {
	a, _ := analyzers(t)
	if got := a.Compound([]byte(strings.Repeat("good bad awful great ", 100000) + "but good")); got != -1 && got != 1 {
		t.Errorf("%v", got)
	}
}

// TestPinnedScores: texts of our own. Their scores were computed by a transcription of the rules into Python, which agrees
// with the original on the 2,000 overviews of TestSamples.
func TestPinnedScores(t *testing.T) {
	a, _ := analyzers(t)
	for text, want := range map[string]float64{
		"":                    0,
		" \n ":                0,
		"A man walks his dog": 0,
		"The pasta was good":  0.4404,
		"The pasta was good!": 0.4926,
		"The pasta was not good, it was horrible": -0.7101,
		"The pasta was so good":                   0.5777,
		"The pasta was GOOD":                      0.5622,
		"They follow their hearts":                0.6486,
		"Why is everybody so sad??":               -0.6543,
		"A good cook, but a horrible waiter":      -0.5859,
		"It was never so good":                    0.6626,
		"He rarely finds the happiness he wants":  -0.4449,
		"At the least good":                       -0.3412,
		"Smiles 😀 everywhere":                     0.6808,
		"A sort of nice hero":                     0.7017,
		"No good or evil":                         0.2755,
	} {
		if got := a.Compound([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestSamples compares with the original's scores on real texts if they are available, and in any case with the naive
// implementation on generated ones.
func TestSamples(t *testing.T) {
	a, n := analyzers(t)
	type scored struct {
		Text     string
		Compound float64
	}
	var all []scored
	if shared := os.Getenv("POSTA_SHARED"); shared != "" {
		f, err := os.Open(filepath.Join(shared, "samples", "movies", "vader.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var s scored
			if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
	} else {
		r := rand.New(rand.NewPCG(5, 6))
		for range 2000 {
			s := sentence(r, 60)
			all = append(all, scored{s, n.Compound(s)})
		}
	}
	if len(all) != 2000 {
		t.Fatalf("%d texts", len(all))
	}
	for _, s := range all {
		if got := a.Compound([]byte(s.Text)); got != s.Compound {
			t.Errorf("%v, want %v: %s", got, s.Compound, s.Text)
		}
		if got := n.Compound(s.Text); got != s.Compound {
			t.Errorf("naive %v, want %v: %s", got, s.Compound, s.Text)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	a, _ := analyzers(t)
	text := []byte("It isn't a GOOD film 😀, but the café is great; really very nice people — and no horrible ones!")
	a.Compound(text)
	if n := testing.AllocsPerRun(100, func() { a.Compound(text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzCompound(f *testing.F) {
	a, n := analyzers(f)
	r := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		f.Add(sentence(r, 12))
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1<<12 {
			return
		}
		if got, want := a.Compound([]byte(s)), n.Compound(s); got != want {
			t.Fatalf("%q: %v, want %v", s, got, want)
		}
	})
}

func BenchmarkCompound(b *testing.B) {
	a, _ := analyzers(b)
	text := []byte("A retired detective, who has not slept well since his partner died, is asked by a wealthy family to find their " +
		"missing daughter. The trail leads him through a city of corrupt officials and desperate lovers – but nobody is what they " +
		"seem, and the only friend he can trust has been lying to him for years. When the truth comes out, it destroys everything " +
		"he cared for, and he must choose between justice and the last chance of happiness.")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		a.Compound(text)
	}
}
