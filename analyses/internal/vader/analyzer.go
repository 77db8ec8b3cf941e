package vader

import (
	"bytes"
	"math"
	"strconv"
)

// Analyzer scores texts. Only one goroutine at a time may use it; all analyzers share the lexicon.
type Analyzer struct {
	lex     *lexicon
	text    []byte // the text with emoji replaced, followed by padding
	lowered []byte // the lower case of a word that is not ASCII
	words   []word
	felt    []feeling
}

// New returns an analyzer. The first call of a process reads the lexicon, which takes some 10 ms; an error wraps
// [ErrLexicon].
func New() (*Analyzer, error) {
	lex, err := shared()
	if err != nil {
		return nil, err
	}
	return &Analyzer{lex: lex}, nil
}

// Compound returns the compound score of a text in UTF-8, rounded to four decimals: -1 is the worst score, 1 the best.
func (a *Analyzer) Compound(text []byte) float64 {
	a.describe(text)
	n := len(a.text)
	a.text = append(a.text, make([]byte, padding)...)
	capitals := a.split(n)
	mixed := capitals > 0 && capitals < len(a.words)
	a.felt = a.felt[:0]
	contrastAt := -1
	for i := range a.words {
		if a.words[i].role == but && contrastAt < 0 {
			contrastAt = i
		}
		if v := a.valence(i, mixed); v != 0 {
			a.felt = append(a.felt, feeling{i, v})
		}
	}
	if contrastAt >= 0 {
		contrast(a.felt, contrastAt)
	}
	sum := 0.0
	for _, f := range a.felt {
		sum += f.valence
	}
	return normalize(emphasize(sum, a.text[:n]))
}

// emphasize moves a sum away from 0 by the exclamation and question marks of the text. A sum of 0 stays 0.
func emphasize(sum float64, text []byte) float64 {
	if sum == 0 {
		return 0
	}
	by := float64(float64(min(bytes.Count(text, []byte{'!'}), mostExclaim)) * exclaimBy)
	switch n := bytes.Count(text, []byte{'?'}); {
	case n > 3:
		by += askMuch
	case n > 1:
		by += float64(float64(n) * askBy)
	}
	return more(sum, by)
}

func normalize(sum float64) float64 {
	return round4(max(-1, min(1, sum/math.Sqrt(float64(sum*sum)+alpha))))
}

// round4 rounds correctly to four decimals, halves to even. The product decides unless it is near a half; its own error is
// far smaller than the tested distance.
func round4(v float64) float64 {
	scaled := v * 1e4
	whole := math.RoundToEven(scaled)
	if math.Abs(math.Abs(scaled-whole)-0.5) > 1e-6 {
		return whole / 1e4
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 4, 64), 64)
	if err != nil { // NaN: the sum of valences overflowed, for which no text is long enough
		return 0
	}
	return r
}
