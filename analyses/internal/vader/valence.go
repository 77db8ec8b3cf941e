package vader

// Products are converted to float64 before they are added. Otherwise a compiler may fuse both operations into one, which
// rounds differently, and only on some machines (D1).

// valence returns what word i contributes to the sum.
func (a *Analyzer) valence(i int, mixed bool) float64 {
	w := &a.words[i]
	if !w.rated || w.boost != 0 || w.role == kind && a.role(i+1) == of {
		return 0
	}
	v := w.valence
	if w.role == no && i+1 < len(a.words) && a.words[i+1].rated {
		v = 0 // "no" negates the next word here; it is not bad itself
	}
	if a.afterNo(i) {
		v = float64(w.valence * negateBy)
	}
	if w.capitals && mixed {
		v = more(v, capsBy)
	}
	for back := 1; back <= 3 && back <= i; back++ {
		if before := &a.words[i-back]; !before.rated {
			v += before.boosts(v, back, mixed)
			v = a.negated(v, i, back)
			if back == 3 {
				v = a.idioms(v, i)
			}
		}
	}
	if a.role(i-1) == least && !a.words[i-1].rated && a.role(i-2) != at && a.role(i-2) != very {
		v = float64(v * negateBy)
	}
	return v
}

// role returns the role of word i, plain if there is no such word.
func (a *Analyzer) role(i int) role {
	if i < 0 || i >= len(a.words) {
		return plain
	}
	return a.words[i].role
}

// more moves v away from 0 by the amount by. A v of 0 moves downward.
func more(v, by float64) float64 {
	if v > 0 {
		return v + by
	}
	return v - by
}

// afterNo reports whether word i follows "no": directly, one word later, or as in "no word or word".
func (a *Analyzer) afterNo(i int) bool {
	if a.role(i-1) == no || a.role(i-2) == no {
		return true
	}
	last := a.role(i - 1)
	return a.role(i-3) == no && (last == or || last == nor)
}

// boosts returns by how much w changes the valence v of a word that comes back words after it.
func (w *word) boosts(v float64, back int, mixed bool) float64 {
	if w.boost == 0 {
		return 0
	}
	s := w.boost
	if v < 0 {
		s = -s
	}
	if w.capitals && mixed {
		if v > 0 {
			s += capsBy
		} else {
			s -= capsBy
		}
	}
	switch back {
	case 2:
		return float64(s * secondBy)
	case 3:
		return float64(s * thirdBy)
	}
	return s
}

// idioms replaces v if word i is part of an idiom or follows one. At least three words must stand before i.
func (a *Analyzer) idioms(v float64, i int) float64 {
	three, two, one, zero := a.role(i-3), a.role(i-2), a.role(i-1), a.role(i)
	if three|two|one|zero == plain {
		return v
	}
	v = idiomBefore(v, three, two, one, zero)
	if x, ok := idiom2(zero, a.role(i+1)); ok {
		v = x
	}
	if x, ok := idiom3(zero, a.role(i+1), a.role(i+2)); ok {
		v = x
	}
	if weakens2(three, two) {
		v -= boostBy
	}
	if weakens2(two, one) {
		v -= boostBy
	}
	return v
}

// idiomBefore returns the valence of the first idiom that ends at a word or before it. It searches in the original's order.
func idiomBefore(v float64, three, two, one, zero role) float64 {
	if x, ok := idiom2(one, zero); ok {
		return x
	}
	if x, ok := idiom3(two, one, zero); ok {
		return x
	}
	if x, ok := idiom2(two, one); ok {
		return x
	}
	if x, ok := idiom3(three, two, one); ok {
		return x
	}
	if x, ok := idiom2(three, two); ok {
		return x
	}
	return v
}
