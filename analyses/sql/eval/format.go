package eval

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"posta.dev/posta/analyses/sql/types"
)

// directive says how a format shows one value. align is '<', '>' or '^', or 0 if the value's type decides.
type directive struct {
	align     byte
	fill      string
	sign      byte // '+' or ' ': shown before a number without '-'
	alternate bool
	zero      bool
	group     string // separates groups of three digits
	width     int
	precision int // negative: not given
	verb      byte
	unsigned  bool // other numbers than decimal ones have no sign: they are 64 bits, as in C
}

// widest bounds the widths and precisions of a format.
const widest = 1 << 20

// formats is printf and format. next formats the next part of a format.
func formats(next func(k *function, args []*Vector, row int32, format string) (string, string)) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		for _, i := range sel {
			s, why := next(k, args, i, args[0].Texts[i])
			if why == "" {
				why = k.text(len(s))
			}
			if why != "" {
				return i, why
			}
			k.out.Texts[i] = s
		}
		return ok, ""
	}
}

// number reads the digits at the start of a text.
func number(s string) (n int, rest string, why string) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi("0" + s[:end])
	if err != nil || n > widest {
		return 0, "", fmt.Sprintf("a format asks for %s characters; at most %d are made", s[:end], widest)
	}
	return n, s[end:], ""
}

// printf knows the directives of C: %d, %05d, %-10s, %.2f, %e, %g, %x, %o, %c, %%.
func printf(k *function, args []*Vector, row int32, format string) (string, string) {
	var b strings.Builder
	at := 1
	for {
		text, rest, more := strings.Cut(format, "%")
		b.WriteString(text)
		if b.Len() > MaxText {
			return "", k.tooLong(b.Len())
		}
		if !more {
			return b.String(), ""
		}
		if strings.HasPrefix(rest, "%") {
			b.WriteByte('%')
			format = rest[1:]
			continue
		}
		d := directive{precision: -1, align: '>', unsigned: true}
		for rest != "" && strings.IndexByte("-+ #0,'", rest[0]) >= 0 {
			switch c := rest[0]; c {
			case '-':
				d.align = '<'
			case '+', ' ':
				if d.sign != '+' {
					d.sign = c
				}
			case '#':
				d.alternate = true
			case '0':
				d.zero = true
			default:
				d.group = ","
			}
			rest = rest[1:]
		}
		why := ""
		if d.width, rest, why = number(rest); why != "" {
			return "", why
		}
		if after, is := strings.CutPrefix(rest, "."); is {
			if d.precision, rest, why = number(after); why != "" {
				return "", why
			}
		}
		rest = strings.TrimLeft(rest, "hl")
		if rest == "" {
			return "", fmt.Sprintf("the format %s ends within a %%; a percent sign is %%%%", clipped(args[0].Texts[row]))
		}
		d.verb, format = rest[0], rest[1:]
		if d.align == '<' {
			d.zero = false
		}
		s, why := k.shown(args, at, row, d)
		if why != "" {
			return "", why
		}
		b.WriteString(s)
		at++
	}
}

// braces is the function format: {}, {1}, {:>10}, {:05d}, {:,}, {:.2f}, {{.
func braces(k *function, args []*Vector, row int32, format string) (string, string) {
	var b strings.Builder
	next := 1
	for {
		i := strings.IndexAny(format, "{}")
		if i < 0 {
			b.WriteString(format)
			return b.String(), ""
		}
		b.WriteString(format[:i])
		if b.Len() > MaxText {
			return "", k.tooLong(b.Len())
		}
		if i+1 < len(format) && format[i+1] == format[i] {
			b.WriteByte(format[i])
			format = format[i+2:]
			continue
		}
		inner, rest, closed := strings.Cut(format[i+1:], "}")
		if format[i] == '}' || !closed {
			return "", fmt.Sprintf("a brace of the format %s has no other one; a single brace is {{ or }}", clipped(args[0].Texts[row]))
		}
		format = rest
		place, spec, _ := strings.Cut(inner, ":")
		at := next
		if place != "" {
			n, err := strconv.Atoi(place)
			if err != nil || n < 0 {
				return "", fmt.Sprintf("{%s} names no argument: they are counted from 0", inner)
			}
			at = min(n, len(args)) + 1
		}
		next++
		d, why := parseBraces(spec)
		if why != "" {
			return "", why
		}
		s, why := k.shown(args, at, row, d)
		if why != "" {
			return "", why
		}
		b.WriteString(s)
	}
}

// parseBraces reads [[fill]align][sign][#][0][width][,][.precision][verb].
func parseBraces(spec string) (d directive, why string) {
	d = directive{precision: -1}
	whole := spec
	if _, n := utf8.DecodeRuneInString(spec); n > 0 && n < len(spec) && strings.IndexByte("<>^", spec[n]) >= 0 {
		d.fill, d.align, spec = spec[:n], spec[n], spec[n+1:]
	} else if spec != "" && strings.IndexByte("<>^", spec[0]) >= 0 {
		d.align, spec = spec[0], spec[1:]
	}
	if spec != "" && strings.IndexByte("+- ", spec[0]) >= 0 {
		if spec[0] != '-' {
			d.sign = spec[0]
		}
		spec = spec[1:]
	}
	if after, is := strings.CutPrefix(spec, "#"); is {
		d.alternate, spec = true, after
	}
	if after, is := strings.CutPrefix(spec, "0"); is {
		d.zero, spec = true, after
	}
	if d.width, spec, why = number(spec); why != "" {
		return d, why
	}
	if after, is := strings.CutPrefix(spec, ","); is {
		d.group, spec = ",", after
	}
	if after, is := strings.CutPrefix(spec, "."); is {
		if d.precision, spec, why = number(after); why != "" {
			return d, why
		}
	}
	if len(spec) == 1 {
		d.verb, spec = spec[0], ""
	}
	if spec != "" {
		why = fmt.Sprintf("%s is not a format of a value", clipped("{:"+whole+"}"))
	}
	return d, why
}

// shown formats an argument as a directive says.
func (k *function) shown(args []*Vector, at int, row int32, d directive) (s, why string) {
	if at >= len(args) {
		return "", fmt.Sprintf("the format %s needs more than the %d arguments that there are", clipped(args[0].Texts[row]), len(args)-1)
	}
	v := args[at]
	bad := func() (string, string) {
		return "", fmt.Sprintf("%q is not a way to show a value of type %s", d.verb, k.types[at])
	}
	x, isFloat := 0.0, v.Kind == types.Double || v.Kind == types.Decimal
	switch v.Kind {
	case types.BigInt:
		return d.integer(v.Ints[row], bad)
	case types.Bool:
		if d.verb == 'd' {
			return d.integer(map[bool]int64{true: 1}[v.Bools[row]], bad)
		}
	case types.Double:
		x = v.Floats[row]
	case types.Decimal:
		x, _ = strconv.ParseFloat(string(AppendText(nil, v, row, k.types[at])), 64)
	}
	if isFloat {
		return d.float(x, bad)
	}
	if d.verb != 0 && d.verb != 's' {
		return bad()
	}
	s = string(appendText(nil, v, row, k.types[at], MaxText))
	if d.precision >= 0 {
		s = cut(s, 0, int64(d.precision))
	}
	if d.align == 0 {
		d.align = '<'
	}
	d.zero = false
	return d.pad("", s), ""
}

// integer formats a whole number.
func (d directive) integer(n int64, bad func() (string, string)) (s, why string) {
	base, prefix := 10, ""
	switch d.verb {
	case 0, 'd', 'i', 'u', 's', 'n':
	case 'x', 'X':
		base, prefix = 16, "0x"
	case 'o':
		base, prefix = 8, "0"
	case 'b', 'B':
		base, prefix = 2, "0b"
	case 'c':
		if n < 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return "", fmt.Sprintf("%d is not a character", n)
		}
		d.zero = false
		return d.pad("", string(rune(n))), ""
	case 'e', 'E', 'f', 'F', 'g', 'G':
		return d.float(float64(n), bad)
	default:
		return bad()
	}
	digits, negative := uint64(n), n < 0 && !(d.unsigned && strings.IndexByte("uxXobB", d.verb) >= 0)
	if negative {
		digits = -digits
	}
	s = strconv.FormatUint(digits, base)
	if d.precision > len(s) {
		s = strings.Repeat("0", d.precision-len(s)) + s
	}
	if base == 10 {
		s = grouped(s, d.group)
	}
	if d.alternate && (n != 0 || !d.unsigned && base != 8) {
		s = prefix + s
	}
	if d.verb == 'X' || d.verb == 'B' {
		s = strings.ToUpper(s)
	}
	return d.pad(d.signOf(negative), s), ""
}

// float formats a DOUBLE.
func (d directive) float(x float64, bad func() (string, string)) (s, why string) {
	verb := d.verb
	switch verb {
	case 'd', 'i':
		return bad()
	case 0, 's':
		verb = 'g'
	case 'F':
		verb = 'f'
	case 'e', 'E', 'f', 'g', 'G':
	default:
		return bad()
	}
	switch a := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		s = "inf"
		if math.IsNaN(x) {
			s = "nan"
		}
		d.zero = false
	case d.precision < 0 && (d.verb == 0 || d.verb == 's'):
		s = string(appendDouble(nil, a))
	default:
		precision := d.precision
		if precision < 0 {
			precision = 6
		}
		s = fmt.Sprintf("%."+strconv.Itoa(precision)+string(verb), a)
	}
	if whole, point, is := strings.Cut(s, "."); is {
		s = grouped(whole, d.group) + "." + point
	} else if !strings.ContainsAny(s, "ein") {
		s = grouped(s, d.group)
	}
	if strings.IndexByte("EFG", d.verb) >= 0 {
		s = strings.ToUpper(s)
	}
	return d.pad(d.signOf(math.Signbit(x)), s), ""
}

func (d directive) signOf(negative bool) string {
	switch {
	case negative:
		return "-"
	case d.sign != 0:
		return string(d.sign)
	}
	return ""
}

// grouped separates groups of three digits.
func grouped(digits, separator string) string {
	if separator == "" {
		return digits
	}
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteString(separator)
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}

// pad fills the text up to the width. Numbers are aligned to the right; zeros come after the sign.
func (d directive) pad(sign, s string) string {
	missing := d.width - utf8.RuneCountInString(sign) - utf8.RuneCountInString(s)
	if missing <= 0 {
		return sign + s
	}
	if d.zero && d.align != '<' && d.align != '^' && d.fill == "" {
		return sign + strings.Repeat("0", missing) + s
	}
	if d.fill == "" {
		d.fill = " "
	}
	left := missing
	switch d.align {
	case '<':
		left = 0
	case '^':
		left = missing / 2
	}
	return strings.Repeat(d.fill, left) + sign + s + strings.Repeat(d.fill, missing-left)
}
