package flights

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/test/analysistest"
)

func TestAnalysisFitsTogether(t *testing.T) {
	if err := New().Check(); err != nil {
		t.Fatal(err)
	}
}

func newSession(t testing.TB) *analysistest.Session {
	t.Helper()
	return analysistest.NewSession(t, New(), analyses.Replica{Of: 1})
}

// frame makes the frame of rows of CSV fields that do not hold commas.
func frame(t testing.TB, stream int, rows ...string) []byte {
	t.Helper()
	var split [][]string
	for _, r := range rows {
		split = append(split, strings.Split(r, ","))
	}
	return analysistest.Frame(t, New(), stream, analyses.File{}, split...)
}

func decoded(t testing.TB, stream int, p []byte) *batch.Batch {
	t.Helper()
	return analysistest.Decode(t, New(), stream, p)
}

// TestListsAreThoseOfSplit compares with strings.Split, which is slower and known to be right.
func TestListsAreThoseOfSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteByte("|||A"[r.IntN(4)])
		}
		list := b.String()
		elements := strings.Split(list, "||")
		whole := true
		for _, e := range elements {
			whole = whole && e != ""
		}
		n, ok := countStopovers([]byte(list))
		if ok != whole || ok && n != int64(len(elements)-1) {
			t.Fatalf("%q: %d %v, want %q", list, n, ok, elements)
		}
	}
}

func TestMilesAreTheNearestFloat(t *testing.T) {
	for text, want := range map[string]float64{
		"1392": 1392, "1392.0": 1392, "0.1": 0.1, "9007199254740993": 9007199254740992, "9007199254740995": 9007199254740996, "1e22": 1e22,
		"-3": 0, "": 0, "0": 0, "-0": 0, "-1e5": 0, "5e-324": 5e-324, "123456789012345678901234567890": 1.2345678901234568e29,
	} {
		value, form, ok := parseMiles([]byte(text))
		if got := milesOf(value, form); !ok || got != want {
			t.Errorf("%q: %v (%d, %d, %v)", text, got, value, form, ok)
		}
	}
}

func TestKeysOfMilesAreInTheirOrder(t *testing.T) {
	miles := []float64{math.Copysign(0, -1), 5e-324, 1e-10, 0.5, 1, math.Nextafter(1, 2), 80, 1e22, math.MaxFloat64}
	for i := 1; i < len(miles); i++ {
		if milesKey(miles[i-1]) >= milesKey(miles[i]) || milesOfKey(milesKey(miles[i])) != miles[i] {
			t.Errorf("%v and %v", miles[i-1], miles[i])
		}
	}
}

func TestForgedBatchesDoNotPanic(t *testing.T) {
	s := newSession(t)
	if err := s.Reference(airports, decoded(t, airports, frame(t, airports, "A,0,0", "B,0,1")),
		analyses.Position{Line: math.MaxUint64}); err != nil {
		t.Fatal(err)
	}
	for _, miles := range []uint64{math.Float64bits(math.NaN()), math.Float64bits(math.Inf(1)), math.Float64bits(-1), 1 << 63} {
		for form := int64(-1); form < 3; form++ {
			b := batch.NewBuilder(New().Streams[itineraries].Schema)
			b.Text(rowLeg).Append(nil)
			b.Dict(rowStart).Append([]byte("A"))
			b.Dict(rowDestination).Append([]byte("B"))
			b.Dict(rowArrivals).Append([]byte("||||A||||||||"))
			b.Int(rowMinutes).Append(math.MinInt64)
			b.Int(rowCents).Append(math.MinInt64)
			b.Int(rowMiles).Append(int64(miles))
			b.Int(rowMilesForm).Append(form)
			if err := s.Facts(itineraries, decoded(t, itineraries, b.Append(nil)), analyses.Position{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Flush(s.Tables); err != nil {
		t.Fatal(err)
	}
	if s.Tables[detours].Len() == 0 { // the bits of a float64 were read as a whole number
		t.Error("no detours, which proves nothing")
	}
	for _, row := range s.Tables[detours].Rows() {
		if v := milesOfKey(s.Tables[detours].KeyInt(row, 2)); !(v > 0 && v <= math.MaxFloat64) {
			t.Errorf("a detour of %v miles", v)
		}
	}
}

func TestStreamsThatDoNotFitAreErrors(t *testing.T) {
	s, a := newSession(t), New()
	ports := decoded(t, airports, frame(t, airports, "A,0,0"))
	args, err := a.Args(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"facts as reference": s.Reference(itineraries, ports, analyses.Position{}),
		"reference as facts": s.Facts(airports, ports, analyses.Position{}),
		"query":              a.Reduce(args, 9, s.Tables[:1], func(...any) {}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := a.NewParser(args, 7, analyses.File{}, nil); err == nil {
		t.Error("stream 7 has a parser")
	}
	s.Tables[fastest].Row(s.Tables[fastest].Key().String("A-B").String("leg"))
	if err := a.Reduce(args, fastest, s.Tables[fastest:fastest+1], func(...any) {}); err == nil {
		t.Error("a leg without a duration is not an error")
	}
}

// TestFlushForgetsAndLateAirportsCount: what was flushed is not flushed again. An airport may come after facts, because the order
// of streams allows it until they end; the facts after it find it.
func TestFlushForgetsAndLateAirportsCount(t *testing.T) {
	s := newSession(t)
	row := decoded(t, itineraries, frame(t, itineraries, "leg,A,B,PT1H,5,1000,X||Y||Z||B"))
	for i, ports := range []string{"A,0,0", "B,0,1", "B,0,0.5"} {
		batch := decoded(t, airports, frame(t, airports, ports))
		if err := s.Reference(airports, batch, analyses.Position{Line: uint64(2 + i)}); err != nil {
			t.Fatal(err)
		}
		if err := s.Facts(itineraries, row, analyses.Position{}); err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(s.Tables); err != nil {
			t.Fatal(err)
		}
	}
	if n := maps.Collect(s.Tables[fares].Counts(0, 0)); len(n) != 1 || n[500] != 3 {
		t.Errorf("fares %v", n)
	}
	if n := s.Tables[stopovers].Len(); n != 3 {
		t.Errorf("%d rows with stopovers", n)
	}
	if n := s.Tables[detours].Len(); n != 2 { // two direct distances give two rows
		t.Errorf("%d detours", n)
	}
}

// TestJourneysAreNotRememberedForEver: a file may have as many journeys as rows.
func TestJourneysAreNotRememberedForEver(t *testing.T) {
	s := newSession(t)
	for from := 0; from < 3*maxJourneys; from += 8192 {
		rows := make([]string, 8192)
		for i := range rows {
			rows[i] = fmt.Sprintf("leg,A,B%d,PT1H,5,,B", from+i)
		}
		if err := s.Facts(itineraries, decoded(t, itineraries, frame(t, itineraries, rows...)), analyses.Position{}); err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(s.Tables); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.Joiner.(*joiner).journeys.names); n > maxJourneys+8192 {
		t.Errorf("%d journeys are remembered", n)
	}
	if n := s.Tables[fares].Len(); n != 3*maxJourneys {
		t.Errorf("%d journeys have fares, want %d", n, 3*maxJourneys)
	}
}

func TestAmountsOfMoreThan64Bits(t *testing.T) {
	var a amounts
	a.add(math.MaxInt64, math.MaxInt64)
	a.add(1, 1)
	if a.below(math.MaxInt64-1) || !a.below(math.MaxInt64) {
		t.Errorf("a mean of less than %d by a little is not found", int64(math.MaxInt64))
	}
	if got := a.average(); got != math.MaxInt64/100.0 {
		t.Errorf("average %v", got)
	}
}
