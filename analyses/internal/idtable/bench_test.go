package idtable

import "testing"

// BenchmarkFind looks up ids of which one in twelve is in a table of 24,000, as the ratings of movies do.
func BenchmarkFind(b *testing.B) {
	table := New()
	for i := range int32(24_000) {
		table.Put(int64(i)*12+7, i)
	}
	ids := make([]int64, 1<<16)
	state := uint64(1)
	for i := range ids {
		state = state*6364136223846793005 + 1442695040888963407
		ids[i] = int64(state>>33) % (24_000 * 12)
	}
	found := 0
	b.ResetTimer()
	for i := range b.N {
		if table.Find(ids[i&(len(ids)-1)]) >= 0 {
			found++
		}
	}
	b.ReportMetric(float64(found)/float64(b.N), "found/op")
}
