package batch

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

const benchRows = 16 << 10

func BenchmarkDictAppend(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name   string
		format string
		values int
	}{{"600codes", "%d", 600}, {"8bytes", "%08d", 600}, {"names", "station number %d", 600}, {"constant", "%d", 1}} {
		values := make([][]byte, benchRows)
		for i := range values {
			values[i] = fmt.Appendf(nil, c.format, 6000+rng.IntN(c.values))
		}
		b.Run(c.name, func(b *testing.B) {
			d := newDictBuilder()
			for b.Loop() {
				d.reset()
				for _, v := range values {
					d.Append(v)
				}
			}
			perRow(b)
		})
	}
}

func BenchmarkFrame(b *testing.B) {
	spec := []FieldSpec{{"day", Int}, {"from", Dict}, {"to", Dict}, {"seconds", Int}, {"year", Int}}
	rng := rand.New(rand.NewPCG(1, 1))
	builder := NewBuilder(spec)
	for range benchRows {
		builder.Int(0).Append(16000 + rng.Int64N(200))
		builder.Dict(1).Append(fmt.Append(nil, 6000+rng.IntN(600)))
		builder.Dict(2).Append(fmt.Append(nil, 6000+rng.IntN(600)))
		builder.Int(3).Append(rng.Int64N(5000))
		builder.Int(4).Append(2015)
	}
	frame := builder.Append(nil)
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			frame = builder.Append(frame[:0])
		}
		perRow(b)
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := Decode(frame, spec); err != nil {
				b.Fatal(err)
			}
		}
		perRow(b)
	})
	b.Run("read", func(b *testing.B) {
		got, err := Decode(frame, spec)
		if err != nil {
			b.Fatal(err)
		}
		var codes []uint32
		var ints []int64
		for b.Loop() {
			ints = got.Ints(0).AppendTo(ints[:0])
			codes = got.Dicts(1).AppendCodes(codes[:0])
			codes = got.Dicts(2).AppendCodes(codes[:0])
			ints = got.Ints(3).AppendTo(ints[:0])
			ints = got.Ints(4).AppendTo(ints[:0])
		}
		perRow(b)
	})
}

func perRow(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}
