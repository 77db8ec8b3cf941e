// Package exact adds float64 and int64 values without rounding. So a sum is the same to the last bit in whatever order, on
// however many nodes, and through whatever partial sums it was computed (design D1).
//
// A [Sum] is the exact sum of what was added. Only reading it rounds, once: [Sum.Value] to the nearest float64, ties to even,
// as Python's math.fsum does; [Sum.Mean] does the same for the exact sum divided by a count.
//
// # How
//
// Shewchuk ("Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997) keeps a sum as a list
// of floats that do not overlap. Such a list is not unique, grows with the spread of the exponents, and may overflow on the
// way to a sum that would not. Here the sum is one fixed-point number, as in Kulisch's long accumulator. Addition of integers
// is associative, so the order cannot matter, and the number has one canonical form. The words:
//
//	near   192 bits: 64 before the binary point, 128 after it. Everything between 1e-22 and 4e18 goes there: three adds.
//	wide   2176 bits, enough for any float64 and 2^77 of the largest. Made only for a Sum that needs it.
//
// The exact value is near + wide. The main loop of a user is
//
//	var s exact.Sum
//	s.Add(0.1); s.AddInt(7); s.AddSum(&other)
//	mean := s.Mean(n)
//
// An exact sum cannot hold NaN and infinities; callers reject such rows. If one is added nevertheless, the Sum becomes NaN and
// stays NaN, whatever the order. It does not panic or loop, and gives no wrong number.
//
// The package never allocates for sums in the near range, and keeps no state besides the Sum. Only one goroutine at a time
// may use a Sum.
package exact
