package types

// Form says how an operator or a function treats its operands: it converts them to Args and returns a Result.
type Form struct {
	Args   []Type
	Result Type
}

// form makes the form of two operands.
func form(a, b, result Type) (Form, error) { return Form{[]Type{a, b}, result}, nil }

// Unary returns the form of - for a value.
func Unary(op string, t Type) (Form, error) {
	switch {
	case op == "NOT" && (t.Kind == Bool || t.Kind == Null):
		return Form{[]Type{Of(Bool)}, Of(Bool)}, nil
	case op == "NOT":
		return Form{}, Refuse("Compare it: x <> 0.", "NOT needs a BOOLEAN, not %s", t)
	case t.Kind == Null:
		return Form{[]Type{Of(BigInt)}, Of(BigInt)}, nil
	case t.IsNumber() || t.Kind == Interval:
		return Form{[]Type{t}, t}, nil
	}
	return Form{}, Refuse("", "- needs a number, not %s", t)
}

// Binary returns the form of an operator for two values. Operators are written as in syntax.Op.
func Binary(op string, a, b Type) (Form, error) {
	switch op {
	case "AND", "OR":
		for _, t := range []Type{a, b} {
			if t.Kind != Bool && t.Kind != Null {
				return Form{}, Refuse("Compare it: x <> 0.", "%s needs BOOLEANs, not %s", op, t)
			}
		}
		return form(Of(Bool), Of(Bool), Of(Bool))
	case "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		return compare(op, a, b)
	case "||":
		if a.Kind == TextList || b.Kind == TextList {
			return Form{}, Refuse("", "|| joins TEXTs, not lists")
		}
		return form(Of(Text), Of(Text), Of(Text))
	case "~", "!~", "->>", "->":
		for _, t := range []Type{a, b} {
			if t.Kind != Text && t.Kind != Null {
				return Form{}, Refuse("Convert it: x::TEXT.", "%s needs TEXT, not %s", op, t)
			}
		}
		result := Of(Bool)
		if op == "->>" || op == "->" {
			result = Of(Text)
		}
		return form(Of(Text), Of(Text), result)
	}
	return arithmetic(op, a, b)
}

// compare converts both operands to one type. Only a BIGINT and a DECIMAL stay as they are, and are compared exactly.
func compare(op string, a, b Type) (Form, error) {
	if a.Kind == TextList || b.Kind == TextList {
		return Form{}, Refuse("Write list_contains(list, x).", "lists cannot be compared by %s", op)
	}
	if exact := a.IsNumber() && b.IsNumber() && a.Kind != Double && b.Kind != Double; exact {
		return form(a, b, Of(Bool))
	}
	t, err := Common(a, b)
	if err != nil {
		return Form{}, Refuse(castHint(a, b), "%s cannot be compared with %s", a, b)
	}
	return form(t, t, Of(Bool))
}

// arithmetic is + - * / // %.
func arithmetic(op string, a, b Type) (Form, error) {
	if f, ok := dates(op, a, b); ok {
		return f, nil
	}
	if a.Kind == Null && b.Kind == Null {
		a, b = Of(BigInt), Of(BigInt)
	}
	if a.Kind == Null {
		a = b
	}
	if b.Kind == Null {
		b = a
	}
	if !a.IsNumber() || !b.IsNumber() {
		return Form{}, Refuse(arithmeticHint(op, a, b), "there is no operator %s %s %s", a, op, b)
	}
	double := Of(Double)
	switch {
	case op == "//" && (a.Kind != BigInt || b.Kind != BigInt):
		return Form{}, Refuse("Write trunc(x / y): DuckDB's // does not truncate here.", "// divides BIGINTs, not %s by %s", a, b)
	case op == "/" || a.Kind == Double || b.Kind == Double:
		return form(double, double, double)
	case a.Kind == BigInt && b.Kind == BigInt:
		return form(a, b, a)
	}
	return decimals(op, asDecimal(a), asDecimal(b))
}

// decimals is + - * % of two DECIMALs. For sums and differences, both operands get the same number of digits after the point.
func decimals(op string, a, b Type) (Form, error) {
	if op == "*" {
		scale := int(a.Scale) + int(b.Scale)
		if scale > MaxPrecision {
			return Form{}, Refuse("Convert one of them: x::DOUBLE.",
				"the product of %s and %s has %d digits behind the point; a DECIMAL has at most 18", a, b, scale)
		}
		return form(a, b, DecimalOf(min(int(a.Precision)+int(b.Precision), MaxPrecision), scale))
	}
	scale := int(max(a.Scale, b.Scale))
	whole := int(max(a.Precision-a.Scale, b.Precision-b.Scale))
	operand := DecimalOf(min(whole+scale, MaxPrecision), scale)
	if op == "%" {
		return form(operand, operand, operand)
	}
	return form(operand, operand, DecimalOf(min(whole+scale+1, MaxPrecision), scale))
}

// dates is arithmetic with dates and intervals.
func dates(op string, a, b Type) (Form, bool) {
	date, stamp, interval, bigint := Of(Date), Of(Timestamp), Of(Interval), Of(BigInt)
	for _, r := range []struct {
		op           string
		a, b, result Type
	}{
		{"+", date, bigint, date}, {"+", bigint, date, date}, {"-", date, bigint, date}, {"-", date, date, bigint},
		{"+", date, interval, stamp}, {"+", interval, date, stamp}, {"-", date, interval, stamp},
		{"+", stamp, interval, stamp}, {"+", interval, stamp, stamp}, {"-", stamp, interval, stamp},
		{"-", stamp, stamp, interval}, {"-", stamp, date, interval}, {"-", date, stamp, interval},
		{"+", interval, interval, interval}, {"-", interval, interval, interval},
		{"*", interval, bigint, interval}, {"*", bigint, interval, interval},
	} {
		if r.op == op && r.a == a && r.b == b {
			if op == "-" && r.result == interval && a != interval {
				return Form{[]Type{stamp, stamp}, interval}, true
			}
			return Form{[]Type{a, b}, r.result}, true
		}
	}
	return Form{}, false
}

func arithmeticHint(op string, a, b Type) string {
	switch {
	case a.Kind == Text || b.Kind == Text:
		if op == "+" {
			return "Texts are joined by ||; a number is made of one by x::DOUBLE."
		}
		return "A number is made of a TEXT by x::DOUBLE."
	case op == "+" && (a.Kind == Timestamp || b.Kind == Timestamp || a.Kind == Date || b.Kind == Date):
		return "Write x + INTERVAL 1 DAY."
	case a.Kind == Bool || b.Kind == Bool:
		return "Write x::BIGINT, or count(*) FILTER (WHERE x)."
	case a.Kind == Interval || b.Kind == Interval:
		return "An INTERVAL is multiplied by a BIGINT."
	}
	return ""
}
