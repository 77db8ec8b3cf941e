package bikes

import (
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/test/analysistest"
)

// FuzzFrames gives a joiner anything that decodes as a batch of one of the streams. Frames come from the network; a forged
// one must at worst fail its session.
func FuzzFrames(f *testing.F) {
	a := New()
	args, err := a.Args(nil)
	if err != nil {
		f.Fatal(err)
	}
	rows := [][]string{{"2016-05-02", "31"}, {"1", "Name", "45.5", "-73.5", "2016"}, {"2016-05-01 10:00:00", "1", "1", "5.5", "2016"}}
	for stream, fields := range rows {
		frame := analysistest.Frame(f, a, stream, at("montreal").File, fields)
		f.Add(uint8(stream), frame, frame)
	}
	f.Fuzz(func(t *testing.T, stream uint8, first, second []byte) {
		s := analysistest.NewSession(t, a, analyses.Replica{Of: 1})
		give(t, s, int(stream%2), first)
		give(t, s, trips, second)
		if err := s.Flush(s.Tables); err != nil {
			t.Fatal(err)
		}
		for q := range a.Queries {
			if err := a.Reduce(args, q, s.Tables[q:q+1], func(...any) {}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// give decodes a frame and gives it to the joiner, if it decodes.
func give(t *testing.T, j analyses.Joiner, stream int, frame []byte) {
	b, err := batch.Decode(frame, New().Streams[stream].Schema)
	if err != nil || b.Rows() > 1<<14 {
		return
	}
	if stream == trips {
		err = j.Facts(stream, b, at("montreal"))
	} else {
		err = j.Reference(stream, b, at("montreal"))
	}
	if err != nil {
		t.Fatal(err)
	}
}
