package exact

import "testing"

var sink float64

func BenchmarkAdd(b *testing.B) {
	var s Sum
	for i := 0; b.Loop(); i++ {
		s.Add(1.1 * float64(i&1023))
	}
	sink = s.Value()
}

func BenchmarkAddInt(b *testing.B) {
	var s Sum
	for i := 0; b.Loop(); i++ {
		s.AddInt(int64(i))
	}
	sink = s.Value()
}

func BenchmarkAddSum(b *testing.B) {
	var s, o Sum
	o.Add(0.1)
	for b.Loop() {
		s.AddSum(&o)
	}
	sink = s.Value()
}

func BenchmarkMean(b *testing.B) {
	var s Sum
	s.Add(0.1)
	s.AddInt(12345)
	for b.Loop() {
		sink = s.Mean(7)
	}
}
