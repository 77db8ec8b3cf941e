package exact

import (
	"math/rand/v2"
	"testing"

	"posta.dev/posta/internal/wire"
)

// mergeSomehow adds o to s, either in memory or through the wire form.
func mergeSomehow(t *testing.T, r *rand.Rand, s, o *Sum) {
	t.Helper()
	if r.IntN(2) == 0 {
		s.AddSum(o)
		return
	}
	rd := wire.NewReader(o.Append(nil))
	if err := s.Read(&rd); err != nil {
		t.Fatal(err)
	}
}
