// Package naive reads Python literals in the obvious way: it recurses, and builds values. Tests compare package pyliteral with
// it, and the oracle of analysis movies uses it. It accepts the same literals and finds the same faults as pyliteral, and
// shares no code with it.
package naive

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Eval returns the value of a literal: []any for a list, Tuple, map[any]any, string, int64, Big for an integer beyond 64 bits,
// float64, bool or nil.
func Eval(s string) (v any, err error) {
	e := &evaluator{s: s, at: len(s) - len(strings.TrimLeft(s, " \t"))}
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(fault)
			if !ok {
				panic(p)
			}
			v, err = nil, fmt.Errorf("no Python literal: expected %s at offset %d", f.expected, f.at)
		}
	}()
	v = e.value(0)
	e.space()
	if e.at < len(s) {
		e.fail(e.at, "the end")
	}
	return v, nil
}

// Tuple is a tuple. Big is an integer that does not fit 64 bits, as its digits.
type (
	Tuple []any
	Big   string
)

type fault struct {
	at       int
	expected string
}

type evaluator struct {
	s  string
	at int
}

func (e *evaluator) fail(at int, expected string) { panic(fault{at, expected}) }

func (e *evaluator) space() {
	for e.at < len(e.s) && strings.IndexByte(" \t\n\r\f", e.s[e.at]) >= 0 {
		e.at++
	}
}

func (e *evaluator) rest() string { return e.s[e.at:] }

func (e *evaluator) value(depth int) any {
	rest := e.rest()
	switch {
	case rest == "":
		e.fail(e.at, "a value")
	case strings.IndexByte("[({", rest[0]) >= 0:
		if depth == 64 {
			e.fail(e.at, "at most 64 levels of nesting")
		}
		e.at++
		return e.container(rest[0], depth)
	case text.MatchString(rest):
		return e.text()
	case number.MatchString(rest):
		return e.number()
	}
	for name, v := range map[string]any{"None": nil, "True": true, "False": false} {
		if strings.HasPrefix(rest, name) && !startsWord(rest[len(name):]) {
			e.at += len(name)
			return v
		}
	}
	e.fail(e.at, "a value")
	return nil
}

func (e *evaluator) container(opening byte, depth int) any {
	closing := map[byte]string{'[': "]", '(': ")", '{': "}"}[opening]
	items, dict := []any{}, map[any]any{}
	for n := 0; ; n++ {
		e.space()
		comma := false
		if n > 0 && strings.HasPrefix(e.rest(), ",") {
			comma = true
			e.at++
			e.space()
		}
		if strings.HasPrefix(e.rest(), closing) {
			if opening == '(' && n == 1 && !comma {
				e.fail(e.at, ", as in a tuple of one")
			}
			e.at++
			break
		}
		if n > 0 && !comma {
			e.fail(e.at, ", or "+closing)
		}
		if opening == '{' {
			k := e.key(depth)
			dict[k] = e.value(depth + 1)
			continue
		}
		items = append(items, e.value(depth+1))
	}
	switch opening {
	case '[':
		return items
	case '(':
		return Tuple(items)
	}
	return dict
}

func (e *evaluator) key(depth int) any {
	if e.rest() == "" || strings.IndexByte("[({", e.rest()[0]) >= 0 {
		e.fail(e.at, "a key")
	}
	k := e.value(depth + 1)
	e.space()
	if !strings.HasPrefix(e.rest(), ":") {
		e.fail(e.at, ":")
	}
	e.at++
	e.space()
	return k
}

var (
	number = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)`)
	power  = regexp.MustCompile(`^[eE]([+-]?)([0-9]*)`)
)

func startsWord(s string) bool {
	return s != "" && (s[0] >= 0x80 || s[0] == '_' || unicode.IsLetter(rune(s[0])) || unicode.IsDigit(rune(s[0])))
}

func (e *evaluator) number() any {
	start := e.at
	m := number.FindString(e.rest())
	e.at += len(m)
	whole := len(strings.SplitN(strings.TrimLeft(m, "+-"), ".", 2)[0])
	integer := !strings.Contains(m, ".")
	if p := power.FindStringSubmatch(e.rest()); p != nil {
		integer = false
		e.at += len(p[0])
		if p[2] == "" {
			e.fail(e.at, "an exponent")
		}
	}
	if digits := strings.TrimLeft(m, "+-"); integer && digits[0] == '0' && strings.Trim(digits, "0") != "" {
		e.fail(start, "a number without zeros before it")
	}
	if whole > 4300 {
		e.fail(start, "a number of at most 4300 digits")
	}
	if startsWord(e.rest()) {
		e.fail(e.at, "the end of a number")
	}
	literal := e.s[start:e.at]
	if integer {
		if v, err := strconv.ParseInt(literal, 10, 64); err == nil {
			return v
		}
		return Big(literal)
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return Big(literal)
	}
	return f
}

var text = regexp.MustCompile(`^[uU]?['"]`)

func (e *evaluator) text() any {
	e.at += len(text.FindString(e.rest())) - 1
	quote := e.s[e.at]
	e.at++
	var b strings.Builder
	for {
		switch {
		case e.rest() == "" || strings.IndexByte("\n\r\x00", e.s[e.at]) >= 0:
			e.fail(e.at, "the closing "+string(quote))
		case e.s[e.at] == quote:
			e.at++
			return b.String()
		case e.s[e.at] == '\\':
			b.WriteString(e.escape(quote))
		default:
			b.WriteByte(e.s[e.at])
			e.at++
		}
	}
}

var escapes = []struct {
	form     *regexp.Regexp
	sound    *regexp.Regexp
	expected string
	base     int
}{
	{regexp.MustCompile(`^\\N`), regexp.MustCompile(`^$`), `an escape other than \N`, 0},
	{regexp.MustCompile(`^\\x`), regexp.MustCompile(`^\\x([0-9a-fA-F]{2})`), "two hexadecimal digits", 16},
	{regexp.MustCompile(`^\\u`), regexp.MustCompile(`^\\u([0-9a-fA-F]{4})`), "four hexadecimal digits", 16},
	{regexp.MustCompile(`^\\U`), regexp.MustCompile(`^\\U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})`), "eight hexadecimal digits up to 0010ffff",
		16},
	{regexp.MustCompile(`^\\[0-7]`), regexp.MustCompile(`^\\([0-7]{1,3})`), "", 8},
}

func (e *evaluator) escape(quote byte) string {
	if len(e.rest()) == 1 || e.rest()[1] == 0 {
		e.fail(e.at+1, "the closing "+string(quote))
	}
	for _, x := range escapes {
		if !x.form.MatchString(e.rest()) {
			continue
		}
		m := x.sound.FindStringSubmatch(e.rest())
		if m == nil {
			e.fail(e.at, x.expected)
		}
		e.at += len(m[0])
		v, err := strconv.ParseUint(m[1], x.base, 32)
		if err != nil {
			e.fail(e.at, x.expected)
		}
		return string(rune(v))
	}
	for _, x := range [][2]string{
		{`\\`, `\`}, {`\'`, `'`}, {`\"`, `"`}, {`\a`, "\a"}, {`\b`, "\b"}, {`\f`, "\f"}, {`\n`, "\n"}, {`\r`, "\r"}, {`\t`, "\t"},
		{`\v`, "\v"}, {"\\\r\n", ""}, {"\\\n", ""}, {"\\\r", ""},
	} {
		if strings.HasPrefix(e.rest(), x[0]) {
			e.at += len(x[0])
			return x[1]
		}
	}
	e.at += 2
	return e.s[e.at-2 : e.at]
}
