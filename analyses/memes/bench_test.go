package memes_test

import (
	"testing"

	"posta.dev/posta/analyses/analysistest"
	"posta.dev/posta/analyses/memes"
)

const benchRows = 200_000

func BenchmarkRoles(b *testing.B) {
	analysistest.Bench(b, memes.New(), subject.Generated(b, benchRows, 1))
}

func BenchmarkWhole(b *testing.B) { subject.Whole(b, benchRows) }
