// Package naive computes VADER in the obvious way, with strings and maps, one rule after the other as in the published
// description. It is slow, allocates for every word, and its time grows with the square of a text's length. Tests compare
// package vader with it, and the oracle of analysis movies uses it. It shares only the embedded lexicon with package vader, and
// no code.
package naive

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jonreiter/govader/data"
)

// Scorer scores texts.
type Scorer struct {
	lexicon, boosters, idioms map[string]float64
	emoji                     map[string]string
}

// New reads the lexicon.
func New() (*Scorer, error) {
	s := &Scorer{lexicon: map[string]float64{"heart": 3.2, "hearts": 3.3}, boosters: map[string]float64{}, emoji: map[string]string{}}
	text, err := data.Asset("rawdata/vaderLexicon.txt")
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		f := strings.Split(line, "\t")
		if s.lexicon[f[0]], err = strconv.ParseFloat(f[1], 64); err != nil {
			return nil, fmt.Errorf("lexicon: %w", err)
		}
	}
	if text, err = data.Asset("rawdata/emojiUTF8Lexicon.txt"); err != nil {
		return nil, err
	}
	for _, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		f := strings.Split(strings.TrimSpace(line), "\t")
		s.emoji[f[0]] = f[1]
	}
	for _, w := range stronger {
		s.boosters[w] = 0.293
	}
	for _, w := range weaker {
		s.boosters[w] = -0.293
	}
	s.idioms = map[string]float64{
		"the shit": 3, "the bomb": 3, "bad ass": 1.5, "bus stop": 0, "yeah right": -2, "kiss of death": -1.5, "to die for": 3,
		"beating heart": 3.1, "broken heart": -2.9,
	}
	return s, nil
}

var stronger = strings.Split("absolutely|amazingly|awfully|completely|considerable|considerably|decidedly|deeply|effing|enormous|"+
	"enormously|entirely|especially|exceptional|exceptionally|extreme|extremely|fabulously|flipping|flippin|frackin|fracking|"+
	"fricking|frickin|frigging|friggin|fully|fuckin|fucking|fuggin|fugging|greatly|hella|highly|hugely|incredible|incredibly|"+
	"intensely|major|majorly|more|most|particularly|purely|quite|really|remarkably|so|substantially|thoroughly|total|totally|"+
	"tremendous|tremendously|uber|unbelievably|unusually|utter|utterly|very", "|")

var weaker = strings.Split("almost|barely|hardly|just enough|kind of|kinda|kindof|kind-of|less|little|marginal|marginally|"+
	"occasional|occasionally|partly|scarce|scarcely|slight|slightly|somewhat|sort of|sorta|sortof|sort-of", "|")

var negations = strings.Split("aint|arent|cannot|cant|couldnt|darent|didnt|doesnt|dont|hadnt|hasnt|havent|isnt|mightnt|mustnt|"+
	"neither|neednt|never|none|nope|nor|not|nothing|nowhere|oughtnt|shant|shouldnt|uhuh|wasnt|werent|uh-uh|without|wont|wouldnt|"+
	"rarely|seldom|despite", "|")

// text is a text cut into words.
type text struct {
	*Scorer
	words []string // as in the text
	small []string // in lower case
	mixed bool     // some words are in capitals and some are not
}

// Compound returns the compound score of a text, rounded to four decimals.
func (s *Scorer) Compound(raw string) float64 {
	raw = s.describe(raw)
	t := &text{Scorer: s}
	capitals := 0
	for _, w := range strings.FieldsFunc(raw, isSpace) {
		if core := strings.Trim(w, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"); utf8.RuneCountInString(core) > 2 {
			w = core
		}
		t.words = append(t.words, w)
		t.small = append(t.small, strings.ToLower(strings.ReplaceAll(w, "İ", "i̇")))
		if inCapitals(w) {
			capitals++
		}
	}
	t.mixed = 0 < capitals && capitals < len(t.words)
	valences := make([]float64, len(t.words))
	for i := range t.words {
		valences[i] = t.valence(i)
	}
	t.but(valences)
	sum := 0.0
	for _, v := range valences {
		sum += v
	}
	sum = away(sum, marks(raw))
	score, err := strconv.ParseFloat(fmt.Sprintf("%.4f", sum/math.Sqrt(float64(sum*sum)+15)), 64)
	if err != nil {
		return 0
	}
	return score
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\x1c\x1d\x1e\x1f", r) }

func inCapitals(w string) bool {
	some := false
	for _, r := range w {
		if unicode.In(r, unicode.Ll, unicode.Lt, unicode.Other_Lowercase) {
			return false
		}
		some = some || unicode.In(r, unicode.Lu, unicode.Other_Uppercase)
	}
	return some
}

func (s *Scorer) describe(raw string) string {
	var b strings.Builder
	last := ' '
	for _, r := range raw {
		if d, ok := s.emoji[string(r)]; ok {
			if last != ' ' {
				b.WriteByte(' ')
			}
			b.WriteString(d)
		} else {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

func marks(raw string) float64 {
	by := float64(float64(min(4, strings.Count(raw, "!"))) * 0.292)
	if n := strings.Count(raw, "?"); n > 3 {
		by += 0.96
	} else if n > 1 {
		by += float64(float64(n) * 0.18)
	}
	return by
}

func away(sum, by float64) float64 {
	switch {
	case sum > 0:
		return sum + by
	case sum < 0:
		return sum - by
	}
	return sum
}

func (t *text) is(i int, words ...string) bool {
	return i >= 0 && i < len(t.small) && slices.Contains(words, t.small[i])
}

func (t *text) inLexicon(i int) bool {
	_, ok := t.lexicon[t.small[i]]
	return ok
}

func (t *text) valence(i int) float64 {
	v, ok := t.lexicon[t.small[i]]
	if _, booster := t.boosters[t.small[i]]; !ok || booster || t.is(i, "kind") && t.is(i+1, "of") {
		return 0
	}
	rated := v
	if t.is(i, "no") && i+1 < len(t.words) && t.inLexicon(i+1) {
		v = 0
	}
	if t.is(i-1, "no") || t.is(i-2, "no") || t.is(i-3, "no") && t.is(i-1, "or", "nor") {
		v = float64(rated * -0.74)
	}
	if inCapitals(t.words[i]) && t.mixed {
		if v > 0 {
			v += 0.733
		} else {
			v -= 0.733
		}
	}
	for back := 1; back <= 3; back++ {
		if i < back || t.inLexicon(i-back) {
			continue
		}
		v += float64(t.boost(i-back, v) * []float64{1, 0.95, 0.9}[back-1])
		v = t.negate(v, i, back)
		if back == 3 {
			v = t.idiom(v, i)
		}
	}
	if t.is(i-1, "least") && !t.inLexicon(i-1) && !t.is(i-2, "at", "very") {
		v = float64(v * -0.74)
	}
	return v
}

func (t *text) boost(i int, v float64) float64 {
	by, ok := t.boosters[t.small[i]]
	if !ok {
		return 0
	}
	if v < 0 {
		by = -by
	}
	if inCapitals(t.words[i]) && t.mixed {
		if v > 0 {
			by += 0.733
		} else {
			by -= 0.733
		}
	}
	return by
}

func (t *text) negate(v float64, i, back int) float64 {
	soLast, doubtLast := t.is(i-1, "so", "this"), t.is(i-1, "doubt")
	switch {
	case back == 2 && t.is(i-2, "never") && soLast:
		return float64(v * 1.25)
	case back == 2 && t.is(i-2, "without") && doubtLast:
		return v
	case back == 3 && (t.is(i-3, "never") && t.is(i-2, "so", "this") || soLast):
		return float64(v * 1.25)
	case back == 3 && t.is(i-3, "without") && (t.is(i-2, "doubt") || doubtLast):
		return v
	}
	if w := t.small[i-back]; slices.Contains(negations, w) || strings.Contains(w, "n't") {
		return float64(v * -0.74)
	}
	return v
}

func (t *text) gram(from, to int) string {
	if to > len(t.small) {
		return ""
	}
	return strings.Join(t.small[from:to], " ")
}

func (t *text) idiom(v float64, i int) float64 {
	for _, g := range []string{t.gram(i-1, i+1), t.gram(i-2, i+1), t.gram(i-2, i), t.gram(i-3, i), t.gram(i-3, i-1)} {
		if x, ok := t.idioms[g]; ok {
			v = x
			break
		}
	}
	for _, g := range []string{t.gram(i, i+2), t.gram(i, i+3)} {
		if x, ok := t.idioms[g]; ok {
			v = x
		}
	}
	return v + t.boosters[t.gram(i-3, i)] + t.boosters[t.gram(i-3, i-1)] + t.boosters[t.gram(i-2, i)]
}

func (t *text) but(valences []float64) {
	at := slices.Index(t.small, "but")
	if at < 0 {
		return
	}
	for i := range valences {
		first := slices.Index(valences, valences[i])
		if first < at {
			valences[first] = float64(valences[first] * 0.5)
		} else if first > at {
			valences[first] = float64(valences[first] * 1.5)
		}
	}
}
