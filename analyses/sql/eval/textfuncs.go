package eval

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"posta.dev/posta/analyses/sql/types"
)

// MaxText bounds the result of a function, in bytes. A statement can ask for any size, such as repeat('x', 1000000000000).
const MaxText = 8 << 20

var textKernels = map[string]kernel{
	"lower":               text1(lower),
	"upper":               text1(upper),
	"reverse":             text1(reverse),
	"md5":                 text1(func(s string) string { sum := md5.Sum([]byte(s)); return hex.EncodeToString(sum[:]) }),
	"trim":                trims(true, true),
	"ltrim":               trims(true, false),
	"rtrim":               trims(false, true),
	"substring":           substring,
	"left":                ends(func(s string, n int64, size func() int64) string { return cut(s, 0, fromEnd(n, size)) }),
	"right":               ends(func(s string, n int64, size func() int64) string { return cut(s, size()-fromEnd(n, size), size()) }),
	"replace":             replace,
	"strpos":              strpos,
	"split_part":          splitPart,
	"string_split":        stringSplit,
	"list_contains":       listContains,
	"list_extract":        listExtract,
	"length":              listLength,
	"strlen":              byteLength,
	"LIST":                listOf,
	"array_to_string":     arrayToString,
	"vader":               sentiment,
	"iso_minutes":         isoMinutes,
	"python_list":         pythonList,
	"concat":              concat,
	"concat_ws":           concatWS,
	"||":                  joined,
	"lpad":                pads(true),
	"rpad":                pads(false),
	"repeat":              repeat,
	"chr":                 chr,
	"ascii":               ascii(0),
	"unicode":             ascii(-1),
	"regexp_matches":      regexpMatches,
	"regexp_full_match":   matchesWhole(false),
	"regexp_replace":      regexpReplace,
	"regexp_extract":      regexpExtract,
	"json_items":          jsonItemsAt(false),
	"json_texts":          jsonItemsAt(true),
	"json_array_length":   jsonLength,
	"json_extract":        jsonExtract(false),
	"json_extract_string": jsonExtract(true),
	"->":                  jsonExtract(false),
	"->>":                 jsonExtract(true),
	"printf":              formats(printf),
	"format":              formats(braces),
	"~":                   matchesWhole(false),
	"!~":                  matchesWhole(true),
}

func byteLength(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		k.out.Ints[i] = int64(len(args[0].Texts[i]))
	}
	return ok, ""
}

// text1 returns a kernel for a function of one text.
func text1(f func(string) string) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		x, out := args[0].Texts, k.out.Texts
		for _, i := range sel {
			if why := k.room(len(x[i])); why != "" {
				return i, why
			}
			out[i] = f(x[i])
		}
		return ok, ""
	}
}

// mapped changes each character. Bytes that are not UTF-8 stay as they are.
func mapped(s string, f func(rune) rune) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b.WriteByte(s[i])
		} else {
			b.WriteRune(f(r))
		}
		i += n
	}
	return b.String()
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func lower(s string) string {
	if plainASCII(s) {
		return strings.ToLower(s)
	}
	return mapped(s, unicode.ToLower)
}

func upper(s string) string {
	if plainASCII(s) {
		return strings.ToUpper(s)
	}
	return mapped(s, func(r rune) rune {
		if r == 'ß' {
			return 'ẞ' // as in DuckDB; Unicode's simple mapping has none
		}
		return unicode.ToUpper(r)
	})
}

// reverse reverses the characters of a text, as a reader sees them: what extends a character stays behind it.
func reverse(s string) string {
	out := make([]byte, len(s))
	for i, at := 0, len(s); i < len(s); {
		first, n := utf8.DecodeRuneInString(s[i:])
		for last := first; i+n < len(s) && s[i+n] >= utf8.RuneSelf; {
			r, more := utf8.DecodeRuneInString(s[i+n:])
			flag := isFlag(first) && isFlag(last) && isFlag(r) && n == utf8.RuneLen(first)
			if !extends(r) && (last != joiner || n == utf8.RuneLen(joiner)) && !flag {
				break
			}
			n += more
			last = r
		}
		at -= n
		copy(out[at:], s[i:i+n])
		i += n
	}
	return string(out)
}

const joiner = '\u200d'

// extends reports whether a character belongs to the one before it: a combining mark, a tone of skin, or what joins emojis.
func extends(r rune) bool {
	return unicode.Is(unicode.M, r) || r == joiner || r >= 0x1F3FB && r <= 0x1F3FF
}

// isFlag reports whether a character is half of a flag.
func isFlag(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// trims is trim, ltrim and rtrim. Without a second argument it removes blanks: Unicode's space separators, but not tabs and
// line ends.
func trims(left, right bool) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		x, out := args[0].Texts, k.out.Texts
		for _, i := range sel {
			drop := func(r rune) bool { return unicode.Is(unicode.Zs, r) }
			if len(args) == 2 {
				set := args[1].Texts[i]
				if steps := len(set) / setBytes * len(x[i]); !k.made.work(steps) {
					return i, k.made.tooSlow(k.name, fmt.Sprintf("a set of %d bytes for a text of %d", len(set), len(x[i])), steps)
				}
				drop = func(r rune) bool { return strings.ContainsRune(set, r) }
			}
			s := x[i]
			if left {
				s = strings.TrimLeftFunc(s, drop)
			}
			if right {
				s = strings.TrimRightFunc(s, drop)
			}
			out[i] = s
		}
		return ok, ""
	}
}

// setBytes is how many bytes of a set of characters are looked through in about a step.
const setBytes = 64

func characters(s string) int64 { return int64(utf8.RuneCountInString(s)) }

// cut returns the characters from from up to to, counted from 0.
func cut(s string, from, to int64) string {
	if from >= to {
		return ""
	}
	start := -1
	n := int64(0)
	for i := 0; i < len(s); n++ {
		if n == from {
			start = i
		}
		if n == to {
			return s[start:i]
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	if start < 0 {
		return ""
	}
	return s[start:]
}

// substring works as in DuckDB. Positions are counted from 1, so 0 is before the first character. A negative position counts
// from the end, and a negative length extends backward.
func substring(k *function, args []*Vector, sel []int32) (int32, string) {
	const far = 1 << 40
	for _, i := range sel {
		s, from, n := args[0].Texts[i], min(max(args[1].Ints[i], -far), far), int64(far)
		if len(args) == 3 {
			n = min(max(args[2].Ints[i], -far), far)
		}
		start := from - 1
		if from < 0 {
			start = characters(s) + from
		}
		end := start + n
		k.out.Texts[i] = cut(s, max(min(start, end), 0), max(start, end))
	}
	return ok, ""
}

// fromEnd returns how many characters left and right take: n, or for a negative n all but -n.
func fromEnd(n int64, size func() int64) int64 {
	if n < 0 {
		return max(size()+max(n, -1<<40), 0)
	}
	return min(n, size())
}

// ends is left and right.
func ends(f func(s string, n int64, size func() int64) string) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		for _, i := range sel {
			s := args[0].Texts[i]
			k.out.Texts[i] = f(s, args[1].Ints[i], func() int64 { return characters(s) })
		}
		return ok, ""
	}
}

func replace(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		s, old, with := args[0].Texts[i], args[1].Texts[i], args[2].Texts[i]
		if old == "" {
			k.out.Texts[i] = s
			continue
		}
		size := len(s)
		if grown := len(with) - len(old); grown > 0 {
			size += strings.Count(s, old) * grown
		}
		if why := k.text(size); why != "" {
			return i, why
		}
		k.out.Texts[i] = strings.ReplaceAll(s, old, with)
	}
	return ok, ""
}

func strpos(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		s := args[0].Texts[i]
		at := strings.Index(s, args[1].Texts[i])
		if at < 0 {
			k.out.Ints[i] = 0
			continue
		}
		k.out.Ints[i] = characters(s[:at]) + 1
	}
	return ok, ""
}

// split cuts a text between separators, or into characters without one.
func split(s, sep string) []string {
	if sep != "" || s == "" {
		return strings.Split(s, sep)
	}
	var parts []string
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		parts = append(parts, s[i:i+n])
		i += n
	}
	return parts
}

// parts returns how many parts split makes of a text.
func parts(s, sep string) int {
	if sep == "" {
		return utf8.RuneCountInString(s)
	}
	return strings.Count(s, sep) + 1
}

// item returns the index of the nth of several items, counted from 1, or from the end if n is negative. It returns false if
// there is none.
func item(n int64, of int) (int, bool) {
	if n < 0 {
		n += int64(of) + 1
	}
	return int(n - 1), n >= 1 && n <= int64(of)
}

func splitPart(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		s, sep := args[0].Texts[i], args[1].Texts[i]
		k.out.Texts[i] = ""
		at, is := item(args[2].Ints[i], parts(s, sep))
		switch {
		case !is:
		case sep == "":
			k.out.Texts[i] = cut(s, int64(at), int64(at)+1)
		default:
			for ; at > 0; at-- {
				_, s, _ = strings.Cut(s, sep)
			}
			k.out.Texts[i], _, _ = strings.Cut(s, sep)
		}
	}
	return ok, ""
}

func stringSplit(k *function, args []*Vector, sel []int32) (int32, string) {
	for at, i := range sel {
		if at > 0 { // joins and UNNEST repeat a row's text
			if last := sel[at-1]; sameText(args[0].Texts[i], args[0].Texts[last]) && sameText(args[1].Texts[i], args[1].Texts[last]) {
				k.out.Lists[i] = k.out.Lists[last]
				continue
			}
		}
		if why := k.room(itemBytes * parts(args[0].Texts[i], args[1].Texts[i])); why != "" {
			return i, why
		}
		items := split(args[0].Texts[i], args[1].Texts[i])
		if len(items) == 0 {
			items = []string{""}
		}
		k.out.Lists[i] = List{Items: items}
	}
	return ok, ""
}

// itemBytes is what an item of a list takes beside its text.
const itemBytes = 16

// sameText reports whether two texts share their memory. Texts that do not may be equal, too.
func sameText(a, b string) bool {
	return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b)
}

func listContains(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		l := args[0].Lists[i]
		k.out.Bools[i] = false
		for j, s := range l.Items {
			if s == args[1].Texts[i] && (l.Nulls == nil || !l.Nulls[j]) {
				k.out.Bools[i] = true
			}
		}
	}
	return ok, ""
}

// listOf returns the value of a list expression: ['a', x].
func listOf(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		if why := k.room((itemBytes + 1) * len(args)); why != "" {
			return i, why
		}
		l := List{Items: make([]string, len(args)), Nulls: make([]bool, len(args))}
		for j, a := range args {
			if l.Nulls[j] = a.IsNull(i); !l.Nulls[j] {
				l.Items[j] = a.Texts[i]
			}
		}
		k.out.Lists[i] = l
	}
	return ok, ""
}

func arrayToString(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		l, b, first := args[0].Lists[i], strings.Builder{}, true
		size := 0
		for j, s := range l.Items {
			if l.Nulls == nil || !l.Nulls[j] {
				size += len(s) + len(args[1].Texts[i])
			}
		}
		if why := k.text(max(0, size-len(args[1].Texts[i]))); why != "" {
			return i, why
		}
		for j, s := range l.Items {
			if l.Nulls != nil && l.Nulls[j] {
				continue
			}
			if !first {
				b.WriteString(args[1].Texts[i])
			}
			first = false
			b.WriteString(s)
		}
		k.out.Texts[i] = b.String()
	}
	return ok, ""
}

func listExtract(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		if args[0].Kind == types.Text {
			s, n := args[0].Texts[i], args[1].Ints[i]
			if n < 0 {
				n += characters(s) + 1
			}
			k.out.Texts[i] = cut(s, max(n-1, 0), max(n, 0))
			continue
		}
		l := args[0].Lists[i]
		at, is := item(args[1].Ints[i], len(l.Items))
		if !is || l.Nulls != nil && l.Nulls[at] {
			k.out.SetNull(i)
			continue
		}
		k.out.Texts[i] = l.Items[at]
	}
	return ok, ""
}

// listLength is length of a list. The length of a text has its own kernel.
func listLength(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		k.out.Ints[i] = int64(len(args[0].Lists[i].Items))
	}
	return ok, ""
}

func concat(k *function, args []*Vector, sel []int32) (int32, string) {
	var b []byte
	for _, i := range sel {
		b = b[:0]
		for a, v := range args {
			if !v.IsNull(i) && len(b) <= MaxText {
				b = appendText(b, v, i, k.types[a], MaxText)
			}
		}
		if why := k.text(len(b)); why != "" {
			return i, why
		}
		k.out.Texts[i] = string(b)
	}
	return ok, ""
}

func concatWS(k *function, args []*Vector, sel []int32) (int32, string) {
	var b []byte
	for _, i := range sel {
		if args[0].IsNull(i) {
			k.out.SetNull(i)
			continue
		}
		b = b[:0]
		first := true
		for a, v := range args[1:] {
			if v.IsNull(i) || len(b) > MaxText {
				continue
			}
			if !first {
				b = append(b, args[0].Texts[i]...)
			}
			b, first = appendText(b, v, i, k.types[a+1], MaxText), false
		}
		if why := k.text(len(b)); why != "" {
			return i, why
		}
		k.out.Texts[i] = string(b)
	}
	return ok, ""
}

func joined(k *function, args []*Vector, sel []int32) (int32, string) {
	x, y, out := args[0].Texts, args[1].Texts, k.out.Texts
	for _, i := range sel {
		if why := k.text(len(x[i]) + len(y[i])); why != "" {
			return i, why
		}
		out[i] = x[i] + y[i]
	}
	return ok, ""
}

func pads(left bool) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		for _, i := range sel {
			s, n, with := args[0].Texts[i], args[1].Ints[i], args[2].Texts[i]
			lack := n - characters(s)
			switch {
			case lack <= 0:
				k.out.Texts[i] = cut(s, 0, n)
				continue
			case with == "":
				return i, "there is nothing to fill with: the third argument is ''"
			case lack > MaxText:
				return i, k.tooLong(-1)
			}
			size := characters(with)
			rest := cut(with, 0, lack%size)
			if why := k.text(len(s) + int(lack/size)*len(with) + len(rest)); why != "" {
				return i, why
			}
			fill := strings.Repeat(with, int(lack/size)) + rest
			if left {
				k.out.Texts[i] = fill + s
			} else {
				k.out.Texts[i] = s + fill
			}
		}
		return ok, ""
	}
}

func repeat(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		s, n := args[0].Texts[i], max(args[1].Ints[i], 0)
		if s == "" {
			n = 0
		}
		if n > MaxText {
			return i, k.tooLong(-1)
		}
		if why := k.text(len(s) * int(n)); why != "" {
			return i, why
		}
		k.out.Texts[i] = strings.Repeat(s, int(n))
	}
	return ok, ""
}

func chr(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		n := args[0].Ints[i]
		if n < 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return i, fmt.Sprintf("there is no character %d", n)
		}
		k.out.Texts[i] = string(rune(n))
	}
	return ok, ""
}

// ascii is ascii and unicode, which give none for an empty text.
func ascii(none int64) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		for _, i := range sel {
			s := args[0].Texts[i]
			k.out.Ints[i] = none
			if r, n := utf8.DecodeRuneInString(s); n > 1 || n == 1 && r != utf8.RuneError {
				k.out.Ints[i] = int64(r)
			} else if n == 1 {
				k.out.Ints[i] = int64(s[0])
			}
		}
		return ok, ""
	}
}
