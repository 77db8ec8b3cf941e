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
type Ask struct {
	Kind  Kind
	Parse func(text []byte) (Cell, bool)
}

// Seconds is the kind of [Ask] for times in whole seconds. No column has it.
const Seconds Kind = 100

// Column asks for the values of a column, by its index in [Scanner.Fields]. The cell always has the value of the current row. A
// column can be asked for only once.
func (c *Cells) Column(i int, ask Ask) *Cell {
	if c == nil || c.scanner == nil {
		return &Cell{}
	}
	return c.scanner.ask(i, ask)
}

// typed sets the cell to the result of Parse for a typed value's text, and reports whether it knows this result.
func (c *Cell) typed(ask, kind Kind, v int64) bool {
	switch {
	case ask == Float && kind == Float:
		f := math.Float64frombits(uint64(v))
		c.Float, c.OK = f, !math.IsNaN(f) && !math.IsInf(f, 0)
	case ask == Float && kind == Int:
		c.Float, c.OK = float64(v), true // rounded to the nearest, as digits would be
	case ask == Seconds && kind == Micros:
		c.Int, c.OK = v/1e6, v%1e6 == 0 && inRange(kind, v)
	case ask == kind && kind != Float:
		c.Int, c.OK = v, inRange(kind, v)
	default:
		c.OK = false
	}
	return c.OK
}
