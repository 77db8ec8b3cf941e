package flights

import (
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/rows/batch"
)

// FuzzFrames gives a joiner anything that decodes as a batch of one of the streams. Frames come from the network; a forged
// one must at worst fail its session.
func FuzzFrames(f *testing.F) {
	a := New()
	args, err := a.Args(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(frame(f, airports, "A,0,0", "B,0,1"), frame(f, itineraries, "leg,A,B,PT1H,5,1000,X||Y||Z||B", "leg,A,B,PT1H,5,,A||B"))
	f.Fuzz(func(t *testing.T, ports, rows []byte) {
		s := newSession(t)
		for stream, p := range [][]byte{ports, rows} {
			b, err := batch.Decode(p, a.Streams[stream].Schema)
			if err != nil || b.Rows() > 1<<14 {
				continue
			}
			if stream == airports {
				err = s.Reference(stream, b, analyses.Position{})
			} else {
				err = s.Facts(stream, b, analyses.Position{})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Flush(s.Tables); err != nil {
			t.Fatal(err)
		}
		for q := range a.Queries {
			if _, err := answer.ReduceQuery(a, args, q, s.Tables); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzRows gives the parser any fields that a CSV may contain. It must reject the row or append it.
func FuzzRows(f *testing.F) {
	f.Add([]byte("leg"), []byte("A"), []byte("B"), []byte("PT1H"), []byte("5.00"), []byte("1000"), []byte("X||B"))
	f.Fuzz(func(t *testing.T, leg, start, end, duration, fare, miles, arrivals []byte) {
		b := batch.NewBuilder(New().Streams[itineraries].Schema)
		row, err := New().NewParser(nil, itineraries, analyses.File{}, b)
		if err != nil {
			t.Fatal(err)
		}
		if err := row([][]byte{leg, start, end, duration, fare, miles, arrivals}); err != nil {
			b.Truncate(0)
		} else if b.Rows() != 1 {
			t.Fatal("a row that was taken is not there")
		}
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
