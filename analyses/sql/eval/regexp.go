package eval

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// pattern is a compiled regular expression. It is compiled again only if its text or its options change.
type pattern struct {
	text, options string
	re            *regexp.Regexp
	walk          *walker // finds the first match of most texts; nil: re has to
	size          int     // instructions: a text takes at most that many steps for each of its bytes
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
	text, options = strings.Clone(text), strings.Clone(options) // those of a row are gone with the rows
	p := &pattern{text: text, options: options}
	k.pattern = p
	if len(text) > MaxPattern {
		p.err = fmt.Errorf("a regular expression has at most %d bytes, and this one has %d", MaxPattern, len(text))
		return p
	}
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
		return p
	}
	p.size = instructions(text)
	p.walk = newWalker(text)
	if steps := compileSteps * p.size; !k.made.work(steps) {
		p.err = errors.New(k.made.tooSlow(k.name, fmt.Sprintf("a pattern of %d instructions", p.size), steps))
	}
	return p
}

// first returns the bounds of the first match and of its groups, nil if there is none. They are valid until the next call.
func (p *pattern) first(s string) []int {
	if p.walk != nil {
		if bounds, ok := p.walk.first(s); ok {
			return bounds
		}
	}
	return p.re.FindStringSubmatchIndex(s)
}

// matches reports whether there is a match.
func (p *pattern) matches(s string) bool {
	if p.walk != nil {
		return p.first(s) != nil
	}
	return p.re.MatchString(s)
}

const (
	MaxPattern   = 64 << 10 // bytes
	compileSteps = 8        // that making an instruction of a pattern takes
)

// instructions returns the size of the program that package regexp makes of a valid pattern.
func instructions(text string) int {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return 0
	}
	return len(prog.Inst)
}

// match asks for the time to match a text. A match cannot be interrupted, and in the worst case each byte of the text meets each
// instruction.
func (k *function) match(p *pattern, s string) (why string) {
	if p.err != nil {
		return p.err.Error()
	}
	if steps := (len(s) + 1) * p.size; !k.made.work(steps) {
		return k.made.tooSlow(k.name, fmt.Sprintf("a text of %d bytes and a pattern of %d instructions", len(s), p.size), steps)
	}
	return ""
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
		if why := k.match(p, args[0].Texts[i]); why != "" {
			return i, why
		}
		k.out.Bools[i] = p.matches(args[0].Texts[i])
	}
	return ok, ""
}

// matchesWhole is ~ and !~: the pattern describes the whole text, as in DuckDB.
func matchesWhole(not bool) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		for _, i := range sel {
			p := k.of(args[1].Texts[i], entire)
			if why := k.match(p, args[0].Texts[i]); why != "" {
				return i, why
			}
			k.out.Bools[i] = p.matches(args[0].Texts[i]) != not
		}
		return ok, ""
	}
}

func regexpReplace(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		p := k.of(args[1].Texts[i], option(args, 3, i))
		if why := k.match(p, args[0].Texts[i]); why != "" {
			return i, why
		}
		s, why := k.replaced(p, args[0].Texts[i], args[2].Texts[i])
		if why != "" {
			return i, why
		}
		k.out.Texts[i] = s
	}
	return ok, ""
}

// replaced replaces the first match, or all of them. It asks for the memory of the list of matches, which may be much larger than the text,
// and gives it back.
func (k *function) replaced(p *pattern, s, with string) (out, why string) {
	if k.replacement == nil || k.replacement.with != with {
		k.replacement = parseReplacement(strings.Clone(with)) // that of a row is gone with the rows
	}
	to := k.replacement
	if to.most() > p.re.NumSubexp() { // like RE2, leave the text as it is
		return s, k.room(len(s))
	}
	before := k.made.held
	var matches [][]int
	if !p.global {
		if m := p.first(s); m != nil {
			matches = append(to.one[:0], m)
		}
	} else {
		if len(s) > fewMatches {
			n := 0
			p.re.ReplaceAllStringFunc(s, func(string) string { n++; return "" })
			if why := k.room(n * (24 + 16*(p.re.NumSubexp()+1))); why != "" {
				return "", why
			}
		}
		matches = p.re.FindAllStringSubmatchIndex(s, -1)
	}
	if steps := (1 + len(with)/16) * len(matches); !k.made.work(steps) {
		return "", k.made.tooSlow(k.name, fmt.Sprintf("a replacement of %d bytes for %d matches", len(with), len(matches)), steps)
	}
	size := len(s)
	for _, m := range matches {
		if size += to.size(m) - (m[1] - m[0]); size-len(s) > MaxText {
			break
		}
	}
	k.made.to(before)
	if why := k.text(size); why != "" {
		return "", why
	}
	if len(matches) == 0 {
		return s, ""
	}
	if m := matches[0]; to.whole > 0 && m[0] == 0 && m[1] == len(s) && m[2*to.whole] >= 0 {
		return s[m[2*to.whole]:m[2*to.whole+1]], ""
	}
	b, at := make([]byte, 0, size), 0
	for _, m := range matches {
		b = to.append(append(b, s[at:m[0]]...), s, m)
		at = m[1]
	}
	return string(append(b, s[at:]...)), ""
}

// fewMatches is how long a text may be for the list of its matches to be made before they are counted.
const fewMatches = 64 << 10

// replacement is what stands for a match. In it, \1 stands for what the first group matched, and \0 for the whole match.
type replacement struct {
	with   string
	plain  int     // bytes of its texts
	groups [10]int // how often it has each group
	whole  int     // the group that it consists of; 0 if there is more
	one    [1][]int
}

func parseReplacement(with string) *replacement {
	r := &replacement{with: with}
	r.each(func(text string) { r.plain += len(text) }, func(group int) { r.groups[group]++ })
	if r.plain == 0 && len(with) == 2 {
		r.whole = r.most()
	}
	return r
}

// each calls the functions with the texts and groups in their order.
func (r *replacement) each(text func(string), group func(int)) {
	for with := r.with; ; {
		at := strings.IndexByte(with, '\\')
		if at < 0 || at+1 == len(with) {
			text(with)
			return
		}
		text(with[:at])
		if g := int(with[at+1]) - '0'; g >= 0 && g <= 9 {
			group(g)
		} else {
			text(with[at+1 : at+2])
		}
		with = with[at+2:]
	}
}

// most returns the greatest number of a group that is used.
func (r *replacement) most() (group int) {
	for g, n := range r.groups {
		if n > 0 {
			group = g
		}
	}
	return group
}

// size returns how many bytes stand for a match; m has the bounds of its groups.
func (r *replacement) size(m []int) int {
	n := r.plain
	for g := 0; 2*g+1 < len(m) && g < len(r.groups); g++ {
		n += r.groups[g] * (m[2*g+1] - m[2*g]) // without a match, both are -1
	}
	return n
}

func (r *replacement) append(b []byte, s string, m []int) []byte {
	r.each(func(text string) { b = append(b, text...) }, func(group int) {
		if 2*group+1 < len(m) && m[2*group] >= 0 {
			b = append(b, s[m[2*group]:m[2*group+1]]...)
		}
	})
	return b
}

func regexpExtract(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		p := k.of(args[1].Texts[i], "")
		if why := k.match(p, args[0].Texts[i]); why != "" {
			return i, why
		}
		group := int64(0)
		if len(args) == 3 {
			group = args[2].Ints[i]
		}
		if group < 0 || group > int64(p.re.NumSubexp()) {
			return i, fmt.Sprintf("the pattern %q has no group %d", p.text, group)
		}
		k.out.Texts[i] = ""
		if m := p.first(args[0].Texts[i]); m != nil && m[2*group] >= 0 {
			k.out.Texts[i] = args[0].Texts[i][m[2*group]:m[2*group+1]]
		}
	}
	return ok, ""
}
