package joiner

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/test/roletest"
)

// slow is a joiner whose batches take ten pauses.
type slow struct {
	analyses.Joiner
	pause func()
	calls *[]string
}

func (s *slow) ForkSliced(stream int, pause func()) (analyses.Joiner, error) {
	f, err := s.Joiner.(analyses.Forker).Fork(stream)
	return &slow{f, pause, s.calls}, err
}

func (s *slow) Fork(stream int) (analyses.Joiner, error) { return nil, nil }

func (s *slow) Facts(stream int, b *batch.Batch, pos analyses.Position) error {
	how := "at once"
	if s.pause != nil {
		how = "in slices"
		for range 10 {
			s.pause()
		}
	}
	*s.calls = append(*s.calls, fmt.Sprintf("line %d %s", pos.Line, how))
	return s.Joiner.Facts(stream, b, pos)
}

// slowly opens a joiner whose batches take ten pauses, and ends its reference stream.
func slowly(t *testing.T, r analyses.Replica) (j *Joiner, calls *[]string) {
	t.Helper()
	calls = new([]string)
	session := roletest.Session(t, "s", r, nil)
	of, a := session.Analysis, *session.Analysis
	a.NewJoiner = func(args analyses.Args, r analyses.Replica) (analyses.Joiner, error) {
		inner, err := of.NewJoiner(args, r)
		return &slow{Joiner: inner, calls: calls}, err
	}
	a.ReferenceLater = true
	session.Analysis, j = &a, New()
	if err := j.Open(session); err != nil {
		t.Fatal(err)
	}
	take(t, j, parsed(t, 0, 2, "red\nblue\n"))
	if _, err := j.End(id, 0, &roletest.Kept{}); err != nil {
		t.Fatal(err)
	}
	return j, calls
}

// aheadOf computes a frame until it can be taken, and returns in how many slices.
func aheadOf(t *testing.T, j *Joiner, m role.Message) (slices int) {
	t.Helper()
	for slices = 1; j.Ahead(id, m); slices++ {
		if slices == 100 {
			t.Fatal("the work on a frame has no end")
		}
	}
	return slices
}

// TestN9_FactsAreFoldedInSlices: what a batch needs is computed in slices before it is taken. A commit in between flushes nothing of it, a
// frame that comes again is not computed twice, and one that is taken before its turn is folded at once.
func TestN9_FactsAreFoldedInSlices(t *testing.T) {
	for _, replica := range []analyses.Replica{{Of: 1}, {Index: 1, Of: 2}} {
		j, calls := slowly(t, replica)
		one, two := parsed(t, 1, 10, "red,3\ngreen,5\n"), parsed(t, 1, 20, "blue,4\nred,none\n")
		if !j.Ahead(id, one) {
			t.Fatal("ten pauses in one slice")
		}
		if out, _, amounts := flushed(t, j, 1); len(amounts) > 0 {
			t.Fatalf("a commit has %d messages with amounts of a frame that is not taken: %v", len(out.All), amounts)
		}
		if n := aheadOf(t, j, two); n < 4 { // the slices that one still needs, and its own
			t.Errorf("another frame is ready after %d slices: two are computed at once", n)
		}
		again := one
		again.Payload = []byte(string(one.Payload)) // dropped, and sent again
		if j.Ahead(id, again) {
			t.Error("a frame is computed again")
		}
		clear(one.Payload)
		take(t, j, again)
		if _, _, amounts := flushed(t, j, 1); !maps.Equal(amounts, map[string]int64{"red": 3}) {
			t.Errorf("the first frame gives %v", amounts)
		}
		take(t, j, two)
		take(t, j, parsed(t, 1, 30, "blue,100\n"))
		three := parsed(t, 1, 40, "red,1000\n")
		aheadOf(t, j, three)
		take(t, j, three)
		if _, _, amounts := flushed(t, j, 1); !maps.Equal(amounts, map[string]int64{"blue": 104, "red": 1000}) {
			t.Errorf("the others give %v", amounts)
		}
		if got, want := fmt.Sprint(*calls), "[line 10 in slices line 20 in slices line 30 at once line 40 in slices]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if len(j.sessions[id].ahead) > 0 {
			t.Error("a frame that was taken is kept")
		}
	}
}

// TestN9_WorkAheadEnds: a session that leaves ends its computations, and so does the node. An error comes when the frame is taken, and
// fails the session.
func TestN9_WorkAheadEnds(t *testing.T) {
	j, calls := slowly(t, analyses.Replica{Of: 1})
	j.Ahead(id, parsed(t, 1, 10, "red,3\n"))
	j.Drop(id, role.Outcome{})
	other, _ := slowly(t, analyses.Replica{Of: 1})
	other.Ahead(id, parsed(t, 1, 10, "red,3\n"))
	other.Close()
	if len(*calls) > 0 {
		t.Errorf("%v, although the session has left", *calls)
	}
	j, _ = slowly(t, analyses.Replica{Of: 1})
	bad := parsed(t, 1, 10, "red,-1\n")
	aheadOf(t, j, bad)
	if _, err := j.Take(id, bad, nil); err == nil || !strings.Contains(err.Error(), "minus one") ||
		!strings.Contains(err.Error(), "from line 10") {
		t.Errorf("%v", err)
	}
}
