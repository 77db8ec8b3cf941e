package eval

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// maxText bounds the result of a function, in bytes. A statement can ask for any size, such as repeat('x', 1000000000000).
const maxText = 8 << 20

const tooLong = "the text would have more than 8 MiB"

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
	"ascii":               ascii,
	"regexp_matches":      regexpMatches,
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

// text1 returns a kernel for a function of one text.
func text1(f func(string) string) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		x, out := args[0].Texts, k.out.Texts
		for _, i := range sel {
			out[i] = f(x[i])
		}
		return ok, ""
	}
}

// mapped changes each character. Bytes that are not UTF-8 stay as they are.
func mapped(s string, f func(rune) rune) string {
	var b strings.Builder
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

func lower(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			return mapped(s, unicode.ToLower)
		}
	}
	return s
}

func upper(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c >= 'a' && c <= 'z' {
			return mapped(s, unicode.ToUpper)
		}
	}
	return s
}

// reverse reverses the characters of a text. Combining marks stay after their character, as in DuckDB.
func reverse(s string) string {
	out := make([]byte, len(s))
	for i, at := 0, len(s); i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		for i+n < len(s) && s[i+n] >= utf8.RuneSelf {
			r, more := utf8.DecodeRuneInString(s[i+n:])
			if !unicode.Is(unicode.M, r) {
				break
			}
			n += more
		}
		at -= n
		copy(out[at:], s[i:i+n])
		i += n
	}
	return string(out)
}

// trims is trim, ltrim and rtrim. Without a second argument it removes blanks: Unicode's space separators, but not tabs and
// line ends.
func trims(left, right bool) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		x, out := args[0].Texts, k.out.Texts
		for _, i := range sel {
			drop := func(r rune) bool { return unicode.Is(unicode.Zs, r) }
			if len(args) == 2 {
				set := args[1].Texts[i]
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
		if grown := len(with) - len(old); grown > 0 && len(s)+strings.Count(s, old)*grown > maxText {
			return i, tooLong
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
		parts := split(args[0].Texts[i], args[1].Texts[i])
		k.out.Texts[i] = ""
		if at, is := item(args[2].Ints[i], len(parts)); is {
			k.out.Texts[i] = parts[at]
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
		parts := split(args[0].Texts[i], args[1].Texts[i])
		if len(parts) == 0 {
			parts = []string{""}
		}
		k.out.Lists[i] = List{Items: parts}
	}
	return ok, ""
}

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
		for j, s := range l.Items {
			if l.Nulls != nil && l.Nulls[j] {
				continue
			}
			if !first {
				b.WriteString(args[1].Texts[i])
			}
			if first = false; b.Len()+len(s) > maxText {
				return i, tooLong
			}
			b.WriteString(s)
		}
		k.out.Texts[i] = b.String()
	}
	return ok, ""
}

func listExtract(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		l := args[0].Lists[i]
		at, is := item(args[1].Ints[i], len(l.Items))
		if !is || l.Nulls != nil && l.Nulls[at] {
			k.out.setNull(i)
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
			if !v.IsNull(i) {
				b = AppendText(b, v, i, k.types[a])
			}
		}
		if len(b) > maxText {
			return i, tooLong
		}
		k.out.Texts[i] = string(b)
	}
	return ok, ""
}

func concatWS(k *function, args []*Vector, sel []int32) (int32, string) {
	var b []byte
	for _, i := range sel {
		if args[0].IsNull(i) {
			k.out.setNull(i)
			continue
		}
		b = b[:0]
		first := true
		for a, v := range args[1:] {
			if v.IsNull(i) {
				continue
			}
			if !first {
				b = append(b, args[0].Texts[i]...)
			}
			b, first = AppendText(b, v, i, k.types[a+1]), false
		}
		if len(b) > maxText {
			return i, tooLong
		}
		k.out.Texts[i] = string(b)
	}
	return ok, ""
}

func joined(k *function, args []*Vector, sel []int32) (int32, string) {
	x, y, out := args[0].Texts, args[1].Texts, k.out.Texts
	for _, i := range sel {
		if len(x[i])+len(y[i]) > maxText {
			return i, tooLong
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
			case lack > maxText:
				return i, tooLong
			}
			size := characters(with)
			fill := strings.Repeat(with, int(lack/size)) + cut(with, 0, lack%size)
			if len(fill)+len(s) > maxText {
				return i, tooLong
			}
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
		if len(s) > 0 && n > int64(maxText/len(s)) {
			return i, tooLong
		}
		if s == "" {
			n = 0
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

func ascii(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		s := args[0].Texts[i]
		k.out.Ints[i] = 0
		if r, n := utf8.DecodeRuneInString(s); n > 1 || r != utf8.RuneError {
			k.out.Ints[i] = int64(r)
		} else if n == 1 {
			k.out.Ints[i] = int64(s[0])
		}
	}
	return ok, ""
}

// pattern is a compiled regular expression. It is compiled again only if its text or its options change.
type pattern struct {
	text, options string
	re            *regexp.Regexp
	global        bool
	err           error
}

// entire stands in place of the options for a pattern that must match a whole text.
const entire = "~"

// of returns the pattern of a row. All texts are matched as RE2 does, in time linear in the text.
func (k *function) of(text, options string) *pattern {
	if p := k.pattern; p != nil && p.text == text && p.options == options {
		return p
	}
	p := &pattern{text: text, options: options}
	k.pattern = p
	flags := ""
	if options == entire {
		text, options = `\A(?:`+text+`)\z`, ""
	}
	for _, o := range options {
		switch o {
		case 'g':
			p.global = true
		case 'i', 's':
			flags += string(o)
		case 'm', 'n', 'p':
			flags += "m"
		case 'c', ' ':
		default:
			p.err = fmt.Errorf("there is no option %q for regular expressions: write i, s, m or g", string(o))
			return p
		}
	}
	if flags != "" {
		text = "(?" + flags + ")" + text
	}
	if p.re, p.err = regexp.Compile(text); p.err != nil {
		p.err = fmt.Errorf("%q is not a regular expression of RE2: %w", p.text, p.err)
	}
	return p
}

// option returns the options of a row, "" if the call has no such argument.
func option(args []*Vector, at int, i int32) string {
	if at < len(args) {
		return args[at].Texts[i]
	}
	return ""
}

func regexpMatches(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		p := k.of(args[1].Texts[i], option(args, 2, i))
		if p.err != nil {
			return i, p.err.Error()
		}
		k.out.Bools[i] = p.re.MatchString(args[0].Texts[i])
	}
	return ok, ""
}

// matchesWhole is ~ and !~: the pattern describes the whole text, as in DuckDB.
func matchesWhole(not bool) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		for _, i := range sel {
			p := k.of(args[1].Texts[i], entire)
			if p.err != nil {
				return i, p.err.Error()
			}
			k.out.Bools[i] = p.re.MatchString(args[0].Texts[i]) != not
		}
		return ok, ""
	}
}

func regexpReplace(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		p := k.of(args[1].Texts[i], option(args, 3, i))
		if p.err != nil {
			return i, p.err.Error()
		}
		s, with := args[0].Texts[i], args[2].Texts[i]
		if refers(with) > p.re.NumSubexp() { // like RE2, leave the text as it is
			k.out.Texts[i] = s
			continue
		}
		most := 1
		if p.global {
			most = -1
		}
		var b []byte
		at := 0
		for _, m := range p.re.FindAllStringSubmatchIndex(s, most) {
			b = append(b, s[at:m[0]]...)
			b = expand(b, with, s, m)
			if at = m[1]; len(b) > maxText {
				return i, tooLong
			}
		}
		k.out.Texts[i] = string(append(b, s[at:]...))
	}
	return ok, ""
}

// refers returns the greatest number of a group that a replacement refers to.
func refers(with string) (group int) {
	for i := 0; i+1 < len(with); i++ {
		if with[i] == '\\' {
			i++
			if c := int(with[i]) - '0'; c <= 9 {
				group = max(group, c)
			}
		}
	}
	return group
}

// expand appends a replacement. In it, \1 stands for what the first group matched, and \0 for the whole match.
func expand(b []byte, with, s string, m []int) []byte {
	for i := 0; i < len(with); i++ {
		if with[i] != '\\' || i+1 == len(with) {
			b = append(b, with[i])
			continue
		}
		i++
		if g := int(with[i]) - '0'; g < 0 || g > 9 {
			b = append(b, with[i])
		} else if 2*g+1 < len(m) && m[2*g] >= 0 {
			b = append(b, s[m[2*g]:m[2*g+1]]...)
		}
	}
	return b
}

func regexpExtract(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		p := k.of(args[1].Texts[i], "")
		if p.err != nil {
			return i, p.err.Error()
		}
		group := int64(0)
		if len(args) == 3 {
			group = args[2].Ints[i]
		}
		if group < 0 || group > int64(p.re.NumSubexp()) {
			return i, fmt.Sprintf("the pattern %q has no group %d", p.text, group)
		}
		k.out.Texts[i] = ""
		if m := p.re.FindStringSubmatchIndex(args[0].Texts[i]); m != nil && m[2*group] >= 0 {
			k.out.Texts[i] = args[0].Texts[i][m[2*group]:m[2*group+1]]
		}
	}
	return ok, ""
}
