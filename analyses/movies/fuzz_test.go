package movies

import (
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
)

// FuzzFrames gives a joiner anything that decodes as a batch of one of the streams. Frames come from the network; a forged
// one must at worst fail its session.
func FuzzFrames(f *testing.F) {
	film := frameOf(f, movies, "7", "2005-05-05", "10", "20", "T", "a hero", "[]", "[{'name': 'Argentina'}]")
	f.Add(uint8(ratings), film, frameOf(f, ratings, "7", "4.5"))
	f.Add(uint8(credits), film, frameOf(f, credits, "[{'id': 1, 'name': 'A'}]", "7"))
	f.Fuzz(func(t *testing.T, stream uint8, film, facts []byte) {
		j, tables := joinerOf(t, analyses.Replica{Of: 1})
		if b := decoded(movies, film); b != nil && j.Reference(movies, b, here) != nil {
			return
		}
		if j.End(movies) != nil {
			return
		}
		s := ratings + int(stream)%2
		if b := decoded(s, facts); b != nil && j.Facts(s, b, here) != nil || j.Flush(tables) != nil {
			return
		}
		for q := range New().Queries {
			if err := reduce(defaults(t), q, tables[q:q+1], func(...any) {}); err != nil && q != budgets {
				t.Fatal(err)
			}
		}
	})
}

// decoded returns the batch of a frame, nil if it does not decode.
func decoded(stream int, frame []byte) *batch.Batch {
	b, err := batch.Decode(frame, New().Streams[stream].Schema)
	if err != nil || b.Rows() > 1<<14 {
		return nil
	}
	return b
}

// FuzzLiterals gives any text to the parsers of names and casts. They must return a row or an error.
func FuzzLiterals(f *testing.F) {
	for _, s := range []string{"[{'id': 1, 'name': 'A'}]", "[]", "[1]", "[{'name': None}]", "{", `[{'name': "\x41", 'id': -3,}, (1,)]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, literal []byte) {
		var n names
		if n.read("genres", literal) == nil {
			n.joined()
			if _, err := producersOf(n.packed, &settings{country: "A"}); err != nil {
				t.Fatal(err)
			}
		}
		var c cast
		var k casts
		if c.read(literal) == nil {
			_, tables := joinerOf(t, analyses.Replica{Of: 1})
			k.keep(1, c.packed)
			if err := k.flush(tables[actors]); err != nil {
				t.Fatal(err)
			}
		}
	})
}
