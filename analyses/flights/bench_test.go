package flights_test

import (
	"testing"

	"posta.dev/posta/analyses/flights"
	"posta.dev/posta/test/analysistest"
)

const benchRows = 200_000

func BenchmarkRoles(b *testing.B) {
	analysistest.Bench(b, flights.New(), subject.Generated(b, benchRows, 1))
}

func BenchmarkWhole(b *testing.B) { subject.Whole(b, benchRows) }
