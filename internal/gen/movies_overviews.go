package gen

// Words of overviews. The stories end happily, sadly, or in neither way.
var (
	taleStarts = []string{"A retired sailor", "Two sisters", "An orphan", "The last guest of a hotel", "A young teacher", "The mayor's dog",
		"A thief with a limp", "Three students"}
	taleActs = []string{"crosses the river", "opens a letter", "returns to the village", "builds a boat", "rents a room above the bakery",
		"follows a stranger", "sells the old piano", "waits for the train", "paints the walls", "counts the stars"}
	happyWords = []string{"a great love", "true friendship", "a wonderful surprise", "happiness", "the joy of dancing",
		"a brave and honest hero",
		"a VERY lucky day", "an amazing victory", "hearts of gold"}
	sadWords = []string{"a terrible murder", "war and hatred", "a fatal accident", "grief", "the worst betrayal", "a cruel enemy",
		"DEATH", "a horrible crime", "loneliness"}
	taleTurns = []string{", and finds ", ", but then comes ", " – without ", ", which is not ", ", never so close to ", ", despite ",
		", so full of "}
	taleEnds = []string{".", ".", "!", "!!!", "?", "??", "...", " 😀.", " ❤", ".\nTo be continued.", " (the \"true\" story)."}
)

// overview appends the overview of a film.
func (w *filmWriter) overview(b []byte, n int) []byte {
	mood := w.r.IntN(3)
	for i := range 2 + w.r.IntN(4) {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(append(b, pick(w.r, taleStarts)...), ' ')
		b = append(b, pick(w.r, taleActs)...)
		switch {
		case mood == 0 || i == 0 && n%4 == 0:
			b = append(append(b, pick(w.r, taleTurns)...), pick(w.r, happyWords)...)
		case mood == 1:
			b = append(append(b, pick(w.r, taleTurns)...), pick(w.r, sadWords)...)
		}
		b = append(b, pick(w.r, taleEnds)...)
	}
	return b
}
