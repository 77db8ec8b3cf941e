package bikes

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/exact"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/rows/progress"
	"posta.dev/posta/test/analysistest"
)

func TestAnalysisFitsTogether(t *testing.T) {
	if err := New().Check(); err != nil {
		t.Fatal(err)
	}
}

func TestDurationIsTheNearestFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	texts := []string{"660.0", "-60.0", "0", "-0.0", ".5", "5.", "9007199254740993", "9007199254740992.0", "12345678901234567", "1e3",
		"1.5e-3",
		"0.1", "660.000000000000001", "123456789.123456789", "1e308", "5e-324", "99999999999999999999999"}
	for range 3000 {
		texts = append(texts, strconv.FormatFloat((r.Float64()-0.3)*math.Pow10(r.IntN(30)-10), 'f', r.IntN(20), 64))
	}
	for _, text := range texts {
		want, err := strconv.ParseFloat(text, 64)
		value, scale, ok := duration([]byte(text))
		if !ok || err != nil {
			t.Fatalf("%s: %v %v", text, ok, err)
		}
		var s exact.Sum
		addDuration(&s, value, scale)
		if got := s.Value(); got != max(0, want) {
			t.Fatalf("%s became %v (%d, %d)", text, got, value, scale)
		}
	}
	if v, scale, _ := duration([]byte("660.0")); v != 660 || scale != 0 {
		t.Errorf("660.0 is (%d, %d), which makes wide columns", v, scale)
	}
	for _, text := range []string{"", "x", "NaN", "Inf", "-inf", "0x1", "1_0", "1e400", " 1", "."} {
		if _, _, ok := duration([]byte(text)); ok {
			t.Errorf("%q is a duration", text)
		}
	}
}

// trip builds a batch of one trip.
func trip(date, value, scale, year int64, start, end string) *batch.Batch {
	schema := New().Streams[trips].Schema
	b := batch.NewBuilder(schema)
	b.Int(tripDate).Append(date)
	b.Dict(tripStart).Append([]byte(start))
	b.Dict(tripEnd).Append([]byte(end))
	b.Int(tripDuration).Append(value)
	b.Int(tripScale).Append(scale)
	b.Int(tripYear).Append(year)
	d, err := batch.Decode(b.Append(nil), schema)
	if err != nil {
		panic(err)
	}
	return d
}

func newTestJoiner(t *testing.T) (*withTables, analyses.Joiner) {
	t.Helper()
	a := New()
	s := analysistest.NewSession(t, a, analyses.Replica{Of: 1})
	return &withTables{Analysis: a, tables: s.Tables}, s.Joiner
}

// withTables is the analysis with the tables of a joiner.
type withTables struct {
	*analyses.Analysis
	tables []*fold.Table
}

func at(city string) analyses.Position {
	return analyses.Position{File: analyses.File{Name: city + "/x.csv", Tags: []string{city}}, Line: 2}
}

func rainyDay(t *testing.T, day int64) *batch.Batch {
	t.Helper()
	schema := New().Streams[weather].Schema
	b := batch.NewBuilder(schema)
	b.Int(weatherDate).Append(day)
	b.Float(weatherRain).Append(50)
	d, err := batch.Decode(b.Append(nil), schema)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestForgedBatchesDoNotPanic(t *testing.T) {
	x, j := newTestJoiner(t)
	if err := j.Reference(weather, rainyDay(t, 5), at("c")); err != nil {
		t.Fatal(err)
	}
	for _, scale := range []int64{-2, 19, math.MaxInt64, math.MinInt64} {
		if err := j.Facts(trips, trip(5, -1, scale, math.MaxInt64, "", ""), at("c")); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Flush(x.tables); err != nil {
		t.Fatal(err)
	}
	if got := x.tables[rain].Exact(0, 0).Value(); !math.IsNaN(got) {
		t.Errorf("NaN as a duration gives %v", got)
	}
}

func TestStreamsAndFilesThatDoNotFitAreErrors(t *testing.T) {
	x, j := newTestJoiner(t)
	none := analyses.Position{}
	for name, err := range map[string]error{
		"facts as reference":  j.Reference(trips, rainyDay(t, 1), at("c")),
		"reference as facts":  j.Facts(weather, rainyDay(t, 1), at("c")),
		"reference of nobody": j.Reference(weather, rainyDay(t, 1), none),
		"facts of nobody":     j.Facts(trips, trip(1, 1, 0, 1, "a", "b"), none),
		"query":               x.Reduce(must(x.Args(nil)), 9, []*fold.Table{oneRow(x)}, func(...any) {}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := x.NewParser(nil, 7, analyses.File{Tags: []string{"c"}}, nil); err == nil {
		t.Error("stream 7 has a parser")
	}
	if _, err := x.NewParser(nil, trips, analyses.File{Name: "trips.csv"}, nil); err == nil {
		t.Error("a file in no folder has a parser")
	}
}

func must(args analyses.Args, err error) analyses.Args {
	if err != nil {
		panic(err)
	}
	return args
}

func oneRow(x *withTables) *fold.Table {
	t := fold.NewTable(&x.Tables[rain])
	t.Row(t.Key().Int(1))
	return t
}

// TestFlushForgetsAndLateReferencesCount: what was flushed is not flushed again. A station may come after facts, because the
// order of streams allows it until they end; the facts after it find it.
func TestFlushForgetsAndLateReferencesCount(t *testing.T) {
	x, j := newTestJoiner(t)
	for day := int64(5); day < 8; day++ {
		if err := j.Reference(weather, rainyDay(t, day), at("c")); err != nil {
			t.Fatal(err)
		}
		if err := j.Facts(trips, trip(day, 3, 0, 2016, "a", "b"), at("c")); err != nil {
			t.Fatal(err)
		}
		if err := j.Flush(x.tables); err != nil {
			t.Fatal(err)
		}
	}
	if n := x.tables[rain].Len(); n != 3 {
		t.Fatalf("%d days", n)
	}
	for row := range 3 {
		if n := x.tables[rain].Sum(row, 1); n != 1 {
			t.Errorf("row %d has %d trips", row, n)
		}
	}
}

// TestTouchedListsHaveEachNameOnce: the lists are bounded by the names in the reference streams, not by the number of trips.
func TestTouchedListsHaveEachNameOnce(t *testing.T) {
	_, j := newTestJoiner(t)
	if err := j.Reference(weather, rainyDay(t, 5), at("montreal")); err != nil {
		t.Fatal(err)
	}
	k := j.(*joiner).count
	for range 100 {
		if err := j.Facts(trips, trip(5, 3, 0, 2016, "a", "b"), at("montreal")); err != nil {
			t.Fatal(err)
		}
		k.depart(2 * k.station("montreal", "a"))
		k.arrive(k.station("montreal", "b"), 1.5)
	}
	if len(k.touchedDates) != 1 || len(k.touchedCounts) != 1 || len(k.touchedNames) != 1 {
		t.Fatalf("%d days, %d counts, %d stations", len(k.touchedDates), len(k.touchedCounts), len(k.touchedNames))
	}
}

func TestPlacesAreOrderedByFileLineAndRow(t *testing.T) {
	inOrder := []rowPosition{{"a", 2, 0}, {"a", 2, 1}, {"a", 10, 0}, {"b", 1, 0}, {"b", 1, 7}, {"b", 2, 0}}
	for i, p := range inOrder {
		for k, q := range inOrder {
			if p.before(q) != (i <= k) {
				t.Errorf("%v before %v: %v", p, q, p.before(q))
			}
		}
	}
}

// TestN9_ReferenceDataMarks: building the lookup form of the reference data marks progress.
func TestN9_ReferenceDataMarks(t *testing.T) {
	const rows = 3 * progress.Every
	c := newCity("c", true)
	for i := range int64(rows) {
		key := stationKey{c.code(strconv.AppendInt(nil, i, 10)), 2016}
		c.stations[key] = station{name: "s", lat: float64(i), located: true}
	}
	cfg, k := settings{}, newCounters()
	before := progress.Marks()
	c.build(&cfg, k)
	if marks := progress.Marks() - before; marks < 6 {
		t.Errorf("%d marks for %d stations", marks, rows)
	}
}
