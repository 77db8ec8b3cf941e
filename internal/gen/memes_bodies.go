package gen

import (
	"bytes"
	"math/rand/v2"
)

// phrases are the parts of comments, oddPhrases rare ones.
var phrases = []string{
	"Yes", "This is the way", "me irl", "It happens to the best of us", "I laughed more than I should have", "no context needed", "same",
	"That’s what they want you to think", "Why is this so accurate?", "had to read it twice", "can confirm it works", "not again",
	"my cat does that too", "the second one is the best", "who made this", "every single morning", "and I would do it again",
	"take my upvote", "I feel seen", "source: it came to me in a dream", "🤣🤣", "the universe is a collage of studs", "¯\\_(ツ)_/¯",
	"I was today years old when I learned about it and now I cannot stop thinking about what else I have been wrong about all my life",
}

var oddPhrases = []string{
	"he said \"trust me\"", "nobody:\n\nme at 3 am", "c'est la vie, très vrai", "profess or teach, er, study", "Zero\x07bell", "caf\xe9",
}

// studentWords are words by which students are found, and some similar ones.
var studentWords = []string{
	"University", "COLLEGES", "my students", "prestudent", "Teacher's", "the professor", "PROFESSORSHIP", "collegebound", "UNİVERSITY",
	"universit y", "studen t", "ſtudent", "collége", "profes-sor", "teach", "tEaChEr",
}

// joints stand between phrases. A quarter of all bodies needs quotes, as in the real data.
var joints = []string{". ", ". ", "! ", " ", " and ", " but ", "... ", "? ", ", ", "\n\n"}

// makeBodies makes some thousands of bodies as they stand in a CSV.
func makeBodies(r *rand.Rand) [][]byte {
	bodies := make([][]byte, 4096)
	for i := range bodies {
		var p []byte
		for k := range 1 + r.IntN(3) {
			if k > 0 {
				p = append(p, joints[r.IntN(len(joints))]...)
			}
			from := phrases
			if r.IntN(20) == 0 {
				from = oddPhrases
			}
			p = append(p, from[r.IntN(len(from))]...)
		}
		if i%64 == 5 {
			p = append(append(p, ' '), studentWords[i/64%len(studentWords)]...)
		}
		if i == 99 {
			p = bytes.Repeat(p, 60)
		}
		bodies[i] = appendValue(nil, p)
	}
	return bodies
}

// voidBodies do not count, except the last three.
var voidBodies = []string{"[deleted]", "[removed]", "", "[deleted]", "[removed]", "[Deleted]", `" [deleted]"`, "[removed] by a professor"}
