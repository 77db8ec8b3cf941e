package eval

import (
	"math"
	"strconv"

	"posta.dev/posta/analyses/internal/geo"
	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/types"
)

var numberKernels = map[string]kernel{
	"abs":     absolute,
	"sign":    sign,
	"round":   rounded,
	"floor":   wholes(math.Floor, func(v, power int64) int64 { return floorDiv(v, power) }),
	"ceil":    wholes(math.Ceil, func(v, power int64) int64 { return -floorDiv(-v, power) }),
	"trunc":   wholes(math.Trunc, func(v, power int64) int64 { return v / power }),
	"sqrt":    float1(math.Sqrt, func(x float64) bool { return !(x < 0) }, "the square root of a negative number does not exist"),
	"cbrt":    float1(math.Cbrt, nil, ""),
	"exp":     float1(math.Exp, nil, ""),
	"ln":      float1(ln, above0, noLog),
	"log2":    float1(math.Log2, above0, noLog),
	"log10":   float1(log10, above0, noLog),
	"log":     logarithm,
	"power":   float2(power),
	"sin":     float1(math.Sin, finite, noAngle),
	"cos":     float1(math.Cos, finite, noAngle),
	"tan":     float1(math.Tan, finite, noAngle),
	"asin":    float1(math.Asin, unit, noArc),
	"acos":    float1(math.Acos, unit, noArc),
	"atan":    float1(math.Atan, nil, ""),
	"atan2":   float2(math.Atan2),
	"radians": float1(func(x float64) float64 { return x * (math.Pi / 180) }, nil, ""),
	"degrees": float1(func(x float64) float64 { return x * (180 / math.Pi) }, nil, ""),
	"pi": func(k *function, _ []*Vector, sel []int32) (int32, string) {
		for _, i := range sel {
			k.out.Floats[i] = math.Pi
		}
		return ok, ""
	},
	"greatest":     extreme(">"),
	"least":        extreme("<"),
	"haversine_km": haversine,
}

const (
	noLog   = "the logarithm of a number that is not above 0 does not exist"
	noAngle = "the function has no value for an infinite number"
	noArc   = "the function has values from -1 to 1 alone"
)

func above0(x float64) bool { return !(x <= 0) }
func finite(x float64) bool { return !math.IsInf(x, 0) }
func unit(x float64) bool   { return !(x < -1 || x > 1) }

// float1 returns a kernel for a function of one DOUBLE. has reports whether the function has a value for a number; nil means
// that it always has.
func float1(f func(float64) float64, has func(float64) bool, why string) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		x, out := args[0].Floats, k.out.Floats
		for _, i := range sel {
			if has != nil && !has(x[i]) {
				return i, why
			}
			out[i] = f(x[i])
		}
		return ok, ""
	}
}

func float2(f func(x, y float64) float64) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		x, y, out := args[0].Floats, args[1].Floats, k.out.Floats
		for _, i := range sel {
			out[i] = f(x[i], y[i])
		}
		return ok, ""
	}
}

// leastNormal is the least DOUBLE with all its digits. Below it, the logarithm and so the power of package math are wrong on amd64, where
// they are written in assembly, so such numbers are multiplied by 2 to the power of 52 before.
const leastNormal = 0x1p-1022

func ln(x float64) float64 {
	if x < leastNormal {
		return math.Log(x*0x1p52) - 52*math.Ln2
	}
	return math.Log(x)
}

func log10(x float64) float64 {
	if x < leastNormal {
		return math.Log10(x*0x1p52) - 52*(math.Ln2/math.Ln10)
	}
	return math.Log10(x)
}

func power(x, y float64) float64 {
	if x != 0 && math.Abs(x) < leastNormal {
		return math.Pow(x*0x1p52, y) * math.Exp2(-52*y)
	}
	return math.Pow(x, y)
}

// logarithm is log(x), to base 10, and log(base, x).
func logarithm(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		for _, a := range args {
			if !above0(a.Floats[i]) {
				return i, noLog
			}
		}
		k.out.Floats[i] = log10(args[0].Floats[i])
		if len(args) == 2 {
			if k.out.Floats[i] == 0 {
				return i, "there is no logarithm to base 1"
			}
			k.out.Floats[i] = log10(args[1].Floats[i]) / k.out.Floats[i]
		}
	}
	return ok, ""
}

func absolute(k *function, args []*Vector, sel []int32) (int32, string) {
	if k.out.Kind == types.Double {
		x, out := args[0].Floats, k.out.Floats
		for _, i := range sel {
			out[i] = math.Abs(x[i])
		}
		return ok, ""
	}
	x, out := args[0].Ints, k.out.Ints
	for _, i := range sel {
		if x[i] == math.MinInt64 {
			return i, "the absolute value of -9223372036854775808 does not fit into a BIGINT"
		}
		if out[i] = x[i]; out[i] < 0 {
			out[i] = -out[i]
		}
	}
	return ok, ""
}

func sign(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		s := int64(0)
		if k.types[0].Kind == types.Double {
			if x := args[0].Floats[i]; x > 0 {
				s = 1
			} else if x < 0 {
				s = -1
			}
		} else if x := args[0].Ints[i]; x > 0 {
			s = 1
		} else if x < 0 {
			s = -1
		}
		k.out.Ints[i] = s
	}
	return ok, ""
}

const tooManyDigits = "the rounded number does not fit into its type"

// rounded is round(x) and round(x, digits). For a DECIMAL, the type of the result says how many digits after the point
// remain.
func rounded(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		digits := int64(0)
		if len(args) == 2 {
			digits = args[1].Ints[i]
		}
		switch from := k.types[0]; from.Kind {
		case types.Double:
			k.out.Floats[i] = roundDouble(args[0].Floats[i], digits)
		case types.BigInt:
			v, fits := roundTo(args[0].Ints[i], -max(digits, -40))
			if !fits {
				return i, tooManyDigits
			}
			k.out.Ints[i] = v
		default:
			digits = min(max(digits, -40), int64(from.Scale))
			v, fits := roundTo(args[0].Ints[i], int64(from.Scale)-digits)
			scale := k.t.Scale
			if fits {
				v, fits = rescale(v, from.Scale, scale)
			}
			if !fits {
				return i, tooManyDigits
			}
			k.out.Ints[i] = v
		}
	}
	return ok, ""
}

// tens are the powers of ten that are DOUBLEs, each the nearest one. math.Pow is off by some units of the last place for large ones.
var tens = func() (all [309]float64) {
	for n := range all {
		all[n], _ = strconv.ParseFloat("1e"+strconv.Itoa(n), 64) // 1e308 is a DOUBLE
	}
	return all
}()

// roundDouble rounds half away from zero as DuckDB does: with a power of ten, in DOUBLEs.
func roundDouble(x float64, digits int64) float64 {
	if digits == 0 {
		return math.Round(x)
	}
	power := math.Inf(1)
	if -int64(len(tens)) < digits && digits < int64(len(tens)) {
		power = tens[max(digits, -digits)]
	}
	if digits < 0 {
		r := math.Round(x/power) * power
		if math.IsInf(r, 0) || math.IsNaN(r) {
			return 0
		}
		return r
	}
	r := math.Round(x*power) / power
	if math.IsInf(r, 0) || math.IsNaN(r) {
		return x
	}
	return r
}

// wholes is floor, ceil and trunc.
func wholes(double func(float64) float64, decimal func(v, power int64) int64) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		for _, i := range sel {
			switch from := k.types[0]; from.Kind {
			case types.Double:
				k.out.Floats[i] = double(args[0].Floats[i])
			case types.BigInt:
				if k.out.Kind == types.Double {
					k.out.Floats[i] = float64(args[0].Ints[i])
				} else {
					k.out.Ints[i] = args[0].Ints[i]
				}
			default:
				k.out.Ints[i] = decimal(args[0].Ints[i], field.Powers[from.Scale])
			}
		}
		return ok, ""
	}
}

// extreme is greatest and least, which ignore NULL.
func extreme(op string) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		c := compare{op: op, kind: k.out.Kind, out: Vector{Kind: types.Bool, Bools: make([]bool, len(k.out.Nulls)*64)}}
		one := make([]int32, 1)
		for _, i := range sel {
			one[0] = i
			best := (*Vector)(nil)
			for _, v := range args {
				if v.IsNull(i) {
					continue
				}
				if best != nil {
					if c.rows(v, best, one); !c.out.Bools[i] {
						continue
					}
				}
				best = v
			}
			if best == nil {
				k.out.SetNull(i)
				continue
			}
			k.out.take(best, one)
		}
		return ok, ""
	}
}

// haversine returns the distance between two places, as the flights analysis computes it.
func haversine(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		from, to := geo.At(args[0].Floats[i], args[1].Floats[i]), geo.At(args[2].Floats[i], args[3].Floats[i])
		k.out.Floats[i] = geo.Km(&from, &to)
	}
	return ok, ""
}
