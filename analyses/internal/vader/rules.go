package vader

import "strings"

// What the model's authors measured, and the weights of the original.
const (
	boostBy     = 0.293 // by a booster
	capsBy      = 0.733 // by capitals
	negateBy    = -0.74
	neverSoBy   = 1.25
	secondBy    = 0.95 // a booster two words before
	thirdBy     = 0.9  // three words before
	beforeBut   = 0.5
	afterBut    = 1.5
	exclaimBy   = 0.292
	mostExclaim = 4
	askBy       = 0.18 // for each of two or three question marks
	askMuch     = 0.96 // for more question marks
	alpha       = 15.0 // scales sums to -1 … 1: about the largest expected sum
)

const strengthening = `absolutely amazingly awfully completely considerable considerably decidedly deeply effing enormous enormously
	entirely especially exceptional exceptionally extreme extremely fabulously flipping flippin frackin fracking fricking frickin
	frigging friggin fully fuckin fucking fuggin fugging greatly hella highly hugely incredible incredibly intensely major majorly
	more most particularly purely quite really remarkably so substantially thoroughly total totally tremendous tremendously uber
	unbelievably unusually utter utterly very`

const weakening = `almost barely hardly kinda kindof kind-of less little marginal marginally occasional occasionally partly scarce
	scarcely slight slightly somewhat sorta sortof sort-of`

const negations = `aint arent cannot cant couldnt darent didnt doesnt dont hadnt hasnt havent isnt mightnt mustnt neednt oughtnt
	shant shouldnt wasnt werent wont wouldnt neither never none nope nor not nothing nowhere uhuh uh-uh without rarely seldom
	despite` // and every word that contains "n't": see words.go

// role identifies a word that a rule names.
type role uint8

const (
	plain role = iota
	ass
	at
	bad
	beating
	bomb
	broken
	bus
	but
	death
	die
	doubt
	enough
	forWord
	heart
	just
	kind
	kiss
	least
	never
	no
	nor
	of
	or
	right
	shit
	so
	sortWord
	stop
	the
	this
	to
	very
	without
	yeah
)

var roles = map[string]role{
	"ass": ass, "at": at, "bad": bad, "beating": beating, "bomb": bomb, "broken": broken, "bus": bus, "but": but, "death": death,
	"die": die, "doubt": doubt, "enough": enough, "for": forWord, "heart": heart, "just": just, "kind": kind, "kiss": kiss,
	"least": least, "never": never, "no": no, "nor": nor, "of": of, "or": or, "right": right, "shit": shit, "so": so,
	"sort": sortWord, "stop": stop, "the": the, "this": this, "to": to, "very": very, "without": without, "yeah": yeah,
}

// teach adds the words that the rules name to the table.
func (t *table) teach() {
	for w := range strings.FieldsSeq(strengthening) {
		t.add(w).boost = boostBy
	}
	for w := range strings.FieldsSeq(weakening) {
		t.add(w).boost = -boostBy
	}
	for w := range strings.FieldsSeq(negations) {
		t.add(w).negates = true
	}
	for w, r := range roles {
		t.add(w).role = r
	}
}

// idiom2 returns the valence of an idiom of two words. Those with a heart are as in the newest version; an older one has only the
// first of them, at 3.5.
func idiom2(a, b role) (valence float64, ok bool) {
	switch {
	case a == the && (b == shit || b == bomb):
		return 3, true
	case a == bad && b == ass:
		return 1.5, true
	case a == bus && b == stop:
		return 0, true
	case a == yeah && b == right:
		return -2, true
	case a == beating && b == heart:
		return 3.1, true
	case a == broken && b == heart:
		return -2.9, true
	}
	return 0, false
}

// idiom3 returns the valence of an idiom of three words.
func idiom3(a, b, c role) (valence float64, ok bool) {
	switch {
	case a == kiss && b == of && c == death:
		return -1.5, true
	case a == to && b == die && c == forWord:
		return 3, true
	}
	return 0, false
}

// weakens2 reports whether two words together weaken the next one.
func weakens2(a, b role) bool {
	return a == just && b == enough || (a == kind || a == sortWord) && b == of
}
