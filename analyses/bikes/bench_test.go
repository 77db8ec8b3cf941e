package bikes_test

import (
	"testing"

	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/test/analysistest"
)

const benchRows = 400_000

// trips is the stream of facts.
const trips = 2

// each measures the trips of each city.
func each(b *testing.B, measure func(l *analysistest.Loaded, b *testing.B, stream int)) {
	b.Helper()
	dir := subject.Generated(b, benchRows, 1)
	for _, city := range []string{"montreal", "toronto", "washington"} {
		l := analysistest.Load(b, bikes.New(), dir, city)
		b.Run(city, func(b *testing.B) { measure(l, b, trips) })
	}
}

func BenchmarkParse(b *testing.B)  { each(b, (*analysistest.Loaded).Parse) }
func BenchmarkFacts(b *testing.B)  { each(b, (*analysistest.Loaded).Facts) }
func BenchmarkJoiner(b *testing.B) { each(b, (*analysistest.Loaded).Join) }
