// Package vader scores the sentiment of English texts: VADER, the rule-based model of C.J. Hutto and E. Gilbert ("VADER: A
// Parsimonious Rule-based Model for Sentiment Analysis of Social Media Text", ICWSM 2014), as its authors' Python package
// vaderSentiment 3.3 computes it, to the fourth decimal of the compound score.
//
// Words. A word is a piece of text between white space, without the punctuation around it. A word of the lexicon has a
// valence, from -4 to 4. A booster before a word strengthens or weakens its valence, a negation reverses it, and so do some
// idioms. The compound score of a text is the sum of its valences, scaled to -1 … 1.
//
//	a, err := vader.New()
//	for each text {
//		score := a.Compound(text)
//	}
//
// The main loop, for each text: emoji are replaced by their descriptions. The text is cut into words, and each is looked up
// once, in a table that has everything the rules ask about a word (table.go). Then the rules run over the entries that were
// found, mostly none, and no longer look at the text. No text or word costs an allocation.
//
// Oddities of the original are kept, because its scores are the definition: "so" or "this" right before a word strengthens it
// as if "never" were before (negation.go); "but" weighs the first of equal valences twice (but.go); an emoji description is not
// followed by a space (emoji.go).
//
// The lexicon comes from a module that embeds the original's (lexicon.go). The package does no I/O. No text makes it panic or
// take more than O(n log n).
package vader
