package movies_test

import (
	"testing"

	"posta.dev/posta/analyses/movies"
	"posta.dev/posta/test/analysistest"
)

const benchRows = 200_000

var streams = []string{"movies", "ratings", "credits"}

// BenchmarkParse includes the sentiment in movies, and the literals in movies and credits.
func BenchmarkParse(b *testing.B) {
	l := analysistest.Load(b, movies.New(), subject.Generated(b, benchRows, 1))
	for stream, name := range streams {
		b.Run(name, func(b *testing.B) { l.Parse(b, stream) })
	}
}

// BenchmarkJoiner measures the fact streams; movies is a reference stream.
func BenchmarkJoiner(b *testing.B) {
	l := analysistest.Load(b, movies.New(), subject.Generated(b, benchRows, 1))
	for stream, name := range streams[1:] {
		b.Run(name, func(b *testing.B) { l.Join(b, stream+1) })
	}
}

func BenchmarkWhole(b *testing.B) { subject.Whole(b, benchRows) }
