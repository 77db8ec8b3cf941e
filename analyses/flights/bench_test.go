package flights_test

import (
	"os"
	"testing"

	"posta/analyses/analysistest"
	"posta/analyses/flights"
	"posta/analyses/flights/flightsoracle"
	"posta/analyses/local"
)

const benchRows = 200_000

func BenchmarkRoles(b *testing.B) {
	analysistest.Bench(b, flights.New(), subject.Generated(b, benchRows, 1))
}

// BenchmarkWhole is everything in one process, from files to answers, beside the naive way.
func BenchmarkWhole(b *testing.B) {
	dir := subject.Generated(b, benchRows, 1)
	b.Run("posta", func(b *testing.B) {
		for b.Loop() {
			if _, err := local.Run(flights.New(), os.DirFS(dir), local.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("oracle", func(b *testing.B) {
		for b.Loop() {
			if _, err := flightsoracle.Run(dir, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
