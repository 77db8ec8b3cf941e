package memes

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/exact"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/analysistest"
)

func TestAnalysisFitsTogether(t *testing.T) {
	if err := New().Check(); err != nil {
		t.Fatal(err)
	}
}

// session is a session whose queries can be answered.
type session struct{ *analysistest.Session }

func newSession(t testing.TB) session {
	t.Helper()
	return session{analysistest.NewSession(t, New(), analyses.Replica{Of: 1})}
}

// answers reduces every query.
func (s session) answers(t testing.TB) string {
	t.Helper()
	out := ""
	a := New()
	for q := range a.Queries {
		var tables []*fold.Table
		for _, name := range a.Queries[q].Tables {
			tables = append(tables, s.Tables[a.TableIndex(name)])
		}
		err := a.Reduce(s.Args, q, tables, func(row ...any) { out += fmt.Sprint(row) })
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// decoded makes the batch of rows of CSV fields that do not hold commas.
func decoded(t testing.TB, stream int, rows ...string) *batch.Batch {
	t.Helper()
	return analysistest.Decode(t, New(), stream, frame(t, stream, rows...))
}

func frame(t testing.TB, stream int, rows ...string) []byte {
	t.Helper()
	var split [][]string
	for _, r := range rows {
		split = append(split, strings.Split(r, ","))
	}
	return analysistest.Frame(t, New(), stream, analyses.File{}, split...)
}

func TestSentimentIsUnitsOrTheNearestFloat(t *testing.T) {
	for text, units := range map[string]int64{"0.0": 0, "-0.0": 0, "0.4767": 4767, "-.5": -5000, "1.": 10000, "+1": 10000, "0.50000": 5000,
		"200000":       maxUnits,
		"-199999.9999": -maxUnits + 1} {
		if v, flags, ok := parseSentiment([]byte(text)); !ok || flags != hasSentiment || v != units {
			t.Errorf("%s: %d, flags %d, %v", text, v, flags, ok)
		}
	}
	for _, text := range []string{"0.00001", "1e3", "1e-1", "200000.0001", "-200001", "9007199254740993", "0.33333333333333331", "5e-324",
		"1e308",
		"0.1000000000000000000", "123456789012345678901234567890"} {
		want, err := strconv.ParseFloat(text, 64)
		v, flags, ok := parseSentiment([]byte(text))
		if got := math.Float64frombits(uint64(v)); err != nil || !ok || flags != hasSentiment|fineSentiment || got != want {
			t.Errorf("%s: %v, flags %d, %v", text, got, flags, ok)
		}
	}
	if _, flags, ok := parseSentiment(nil); !ok || flags != 0 {
		t.Error("nothing is a sentiment")
	}
}

func TestMeansAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		units, n := r.Int64N(2*maxUnits)-maxUnits, 1+r.Int64N(1000)
		if r.IntN(2) == 0 { // of any size: sums of many comments
			units, n = (r.Int64()-math.MaxInt64/2)>>r.IntN(63), 1+r.Int64()>>(14+r.IntN(49))
		}
		want := big.NewRat(units, perOne)
		var fine *exact.Sum
		if r.IntN(2) == 0 {
			fine = new(exact.Sum)
			for range 1 + r.IntN(4) {
				v := (r.Float64() - 0.5) * math.Pow10(r.IntN(40)-30)
				fine.Add(v)
				want.Add(want, new(big.Rat).SetFloat64(v))
			}
		}
		exactly, _ := want.Quo(want, new(big.Rat).SetInt64(n)).Float64()
		if got := exactMean(units, fine, n); got != exactly {
			t.Fatalf("%d units of %d: %v, want %v", units, n, got, exactly)
		}
	}
}

// TestFlushForgets: what was flushed is not flushed again.
func TestFlushForgets(t *testing.T) {
	s := newSession(t)
	for i, rows := range [][]string{{"/comments/a,u,4"}, {"/comments/b,v,8", "/comments/a,w,6"}} {
		if err := s.Facts(posts, decoded(t, posts, rows...), analyses.Position{Line: uint64(2 + i)}); err != nil {
			t.Fatal(err)
		}
		if err := s.Facts(comments, decoded(t, comments, "/comments/a,x,0.5", "/comments/b,STUDENT,", "/comments/a,[deleted],1"),
			analyses.Position{}); err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(s.Tables); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.answers(t); got != "[6 3][b v 8][a w 0.5 2]" {
		t.Error(got)
	}
	if n := s.Tables[moods].Len() + s.Tables[students].Len(); n != 2 {
		t.Errorf("%d rows: posts without anything to say are there, too", n)
	}
}

func TestForgedBatchesDoNotPanic(t *testing.T) {
	s := newSession(t)
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64} {
		for flags := int64(-1); flags < 9; flags++ {
			if flags&(hasSentiment|fineSentiment) == hasSentiment {
				continue // no parser makes such units: see the next test
			}
			b := batch.NewBuilder(New().Streams[comments].Schema)
			b.Dict(commentPost).Append([]byte("p"))
			b.Int(commentFlags).Append(flags)
			b.Int(commentSentiment).Append(int64(math.Float64bits(value)))
			d, err := batch.Decode(b.Append(nil), New().Streams[comments].Schema)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Facts(comments, d, analyses.Position{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Facts(posts, decoded(t, posts, "/comments/p,u,1"), analyses.Position{Line: math.MaxUint64}); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(s.Tables); err != nil {
		t.Fatal(err)
	}
	if got := s.answers(t); got != "[1 1]" { // a NaN mean does not count
		t.Error(got)
	}
}

func TestForgedUnitsFailTheirSession(t *testing.T) {
	s := newSession(t)
	for range 2 {
		b := batch.NewBuilder(New().Streams[comments].Schema)
		b.Dict(commentPost).Append([]byte("p"))
		b.Int(commentFlags).Append(hasSentiment)
		b.Int(commentSentiment).Append(math.MaxInt64)
		d, err := batch.Decode(b.Append(nil), New().Streams[comments].Schema)
		if err == nil {
			err = s.Facts(comments, d, analyses.Position{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(s.Tables); err != nil {
		t.Fatal(err)
	}
	if err := s.Tables[moods].Err(); !errors.Is(err, fold.ErrOverflow) { // the engine checks this error
		t.Error(err)
	}
}

func TestStreamsThatDoNotFitAreErrors(t *testing.T) {
	s, a := newSession(t), New()
	for name, err := range map[string]error{
		"reference": s.Reference(posts, nil, analyses.Position{}),
		"facts":     s.Facts(7, nil, analyses.Position{}),
		"query":     a.Reduce(s.Args, 9, s.Tables, func(...any) {}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := a.NewParser(s.Args, 7, analyses.File{}, nil); err == nil {
		t.Error("stream 7 has a parser")
	}
	for _, table := range []int{links, moods} {
		s.Tables[table].Row(s.Tables[table].Key().String("p"))
	}
	s.Tables[moods].AddSum(0, 1, 1)
	if err := a.Reduce(s.Args, querySentiment, []*fold.Table{s.Tables[links], s.Tables[moods], s.Tables[fines]}, func(...any) {}); err == nil {
		t.Error("a post without a row is not an error")
	}
}

func TestTotalsOfTheLargestScores(t *testing.T) {
	table := fold.NewTable(&New().Tables[totals])
	var sum total
	for range 3 {
		sum.add(math.MinInt64)
		sum.add(math.MaxInt64)
		sum.add(math.MaxInt64)
		sum.flush(table)
		sum.flush(table)
	}
	m, ok := meanOf(table)
	if !ok || m.n.Int64() != 9 || m.value() != (math.MaxInt64-1)/3.0 || table.Err() != nil {
		t.Fatalf("%v %v", m.value(), table.Err())
	}
	if m.below((math.MaxInt64-1)/3) || !m.below((math.MaxInt64-1)/3+1) {
		t.Error("the mean is not exact")
	}
}

// FuzzFrames gives a joiner anything that decodes as a batch of one of the streams. Frames come from the network; a forged
// one must at worst fail its session.
func FuzzFrames(f *testing.F) {
	f.Add(frame(f, posts, "/comments/a,u,4", "/comments/b,,-4"), frame(f, comments, "/comments/a,x student,0.5", "/comments/b,x,-0.77777"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		s := newSession(t)
		for stream, p := range [][]byte{first, second} {
			b, err := batch.Decode(p, New().Streams[stream].Schema)
			if err != nil || b.Rows() > 1<<14 {
				continue
			}
			if err := s.Facts(stream, b, analyses.Position{Line: 2}); err != nil {
				t.Fatal(err)
			}
		}
		err := s.Flush(s.Tables)
		if errors.Is(err, fold.ErrOverflow) {
			return // the sum of units that no parser makes is an error, and there is no answer
		}
		if err != nil {
			t.Fatal(err)
		}
		s.answers(t)
	})
}
