package vader

// negated returns the valence v of word i after applying a negation that stands back words before it.
//
// "never so good" and "without doubt" are not negations. Three words back, the original wants to test for "never" with "so" or
// "this" somewhere after it. But its conditions lack parentheses, so "so" or "this" right before the word is enough, whatever
// stands before that. The original's scores are the definition, so this package does the same.
func (a *Analyzer) negated(v float64, i, back int) float64 {
	last := a.role(i - 1)
	switch back {
	case 2:
		switch before := a.role(i - 2); {
		case before == never && (last == so || last == this):
			return float64(v * neverSoBy)
		case before == without && last == doubt:
			return v
		}
	case 3:
		before, between := a.role(i-3), a.role(i-2)
		switch {
		case before == never && (between == so || between == this) || last == so || last == this:
			return float64(v * neverSoBy)
		case before == without && (between == doubt || last == doubt):
			return v
		}
	}
	if a.words[i-back].not {
		return float64(v * negateBy)
	}
	return v
}
