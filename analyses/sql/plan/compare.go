package plan

// Mirrored returns a comparison with its operands exchanged, "" for any other operator.
func Mirrored(op string) string { return operators[op].mirror }

// WholeUnits returns v in units, rounded down, and whether it is a whole number of them.
func WholeUnits(v, unit int64) (n int64, whole bool) {
	n = v / unit
	if n*unit > v {
		n--
	}
	return n, n*unit == v
}

// RoundedDown returns the comparison of whole numbers with a limit that has been rounded down, which holds where op held for the
// limit itself. It returns false if there is none.
func RoundedDown(op string, whole bool) (string, bool) {
	switch {
	case whole:
		return op, Mirrored(op) != ""
	case op == "<" || op == "<=":
		return "<=", true
	case op == ">" || op == ">=":
		return ">", true
	}
	return op, false
}

// SameColumn reports whether two expressions are the same column, perhaps converted to the same type. It may return false for other
// equal expressions.
func SameColumn(a, b Expr) bool {
	if a == b {
		return true
	}
	switch a := a.(type) {
	case *Column:
		c, ok := b.(*Column)
		return ok && c.ID == a.ID
	case *Cast:
		c, ok := b.(*Cast)
		return ok && c.T == a.T && SameColumn(a.X, c.X)
	}
	return false
}
