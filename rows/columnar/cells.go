package columnar

import "math"

// Cells gives an analysis' parser the values of rows that are known without their text. A nil *Cells knows no values.
type Cells struct{ scanner *Scanner }

// Cell is the value of a column in the current row. If OK is set, use the cell and not the row's field. Otherwise the field
// has the text.
type Cell struct {
	OK    bool
	Int   int64
	Float float64
}

// Ask says what a parser does with the text of a column: Parse turns it into a value, or returns false. A repeated text is
// parsed once per chunk. For typed values of kind Kind, parsing their text must give the typed value itself; 0 means no kind.
// Numbers with fewer digits behind the point than a kind Decimal must parse to the decimal of the same value, if it is at most Most.
// Times that are asked for as Micros must be cut to microseconds.
type Ask struct {
	Kind  Kind
	Most  int64 // the largest absolute value of a Decimal
	Parse func(text []byte) (Cell, bool)
}

// Seconds is the kind of [Ask] for times in whole seconds. No column has it.
const Seconds Kind = 100

// Column asks for the values of a column, by its index in [Scanner.Fields]. The cell always has the value of the current row. Only
// the first Ask for a column counts: readers of rows and of runs ask the same.
func (c *Cells) Column(i int, ask Ask) *Cell {
	if c == nil || c.scanner == nil {
		return &Cell{}
	}
	return c.scanner.ask(i, ask)
}

// typed sets the cell to the result of Parse for a typed value's text, and reports whether it knows this result.
func (c *Cell) typed(a *Ask, kind Kind, v int64) bool {
	switch ask := a.Kind; {
	case ask == Float && kind == Float:
		f := math.Float64frombits(uint64(v))
		c.Float, c.OK = f, !math.IsNaN(f) && !math.IsInf(f, 0)
	case ask == Float && kind == Int:
		c.Float, c.OK = float64(v), true // rounded to the nearest, as digits would be
	case ask == Seconds && kind == Micros:
		c.Int, c.OK = v/1e6, v%1e6 == 0 && inRange(kind, v)
	case ask == Seconds && kind == Nanos:
		c.Int, c.OK = v/1e9, v%1e9 == 0
	case ask == Micros && kind == Nanos:
		c.Int, _ = Divide(v, 1000)
		c.OK = true
	case ask.decimal():
		c.Int, c.OK = a.decimal(kind, v)
	case ask == Float && kind.decimal():
		c.Float, c.OK = quotient(kind, v)
	case ask == kind && kind != Float:
		c.Int, c.OK = v, inRange(kind, v)
	default:
		c.OK = false
	}
	return c.OK
}

// powers are the powers of ten that a scale can stand for.
var powers = [MaxScale + 1]int64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// decimal returns a number as the decimal that is asked for; ok is false if it is too large, or has to be rounded.
func (a *Ask) decimal(kind Kind, v int64) (n int64, ok bool) {
	wanted, _ := a.Kind.scale()
	scale, ok := kind.scale()
	if !ok || scale > wanted {
		return 0, false
	}
	power := powers[wanted-scale]
	return v * power, -a.Most/power <= v && v <= a.Most/power
}

// quotient returns a decimal as the nearest float; ok is false if that is not simply found. The quotient of two integers below 2^53 is
// rounded correctly.
func quotient(kind Kind, v int64) (f float64, ok bool) {
	const most = 1 << 53
	scale, _ := kind.scale()
	power := powers[scale]
	return float64(v) / float64(power), -most <= v && v <= most
}
