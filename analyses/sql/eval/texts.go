package eval

import (
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"

	"posta.dev/posta/analyses/internal/words"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// length counts characters. A byte that is not UTF-8 counts as one.
type length struct {
	x   node
	out Vector
}

func (k *length) eval(b *batch, sel []int32) (*Vector, error) {
	x, err := k.x.eval(b, sel)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.out.nullsOf(x)
	for _, i := range sel {
		k.out.Ints[i] = int64(utf8.RuneCountInString(x.Texts[i]))
	}
	return &k.out, nil
}

// part is contains, starts_with and ends_with.
type part struct {
	l, r node
	name string
	out  Vector
}

func (k *part) eval(b *batch, sel []int32) (*Vector, error) {
	l, r, err := both(b, sel, k.l, k.r)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.out.nullsOf(l, r)
	x, y, out := l.Texts, r.Texts, k.out.Bools
	switch k.name {
	case "contains":
		for _, i := range sel {
			out[i] = strings.Contains(x[i], y[i])
		}
	case "starts_with":
		for _, i := range sel {
			out[i] = strings.HasPrefix(x[i], y[i])
		}
	case "ends_with":
		for _, i := range sel {
			out[i] = strings.HasSuffix(x[i], y[i])
		}
	}
	return &k.out, nil
}

// like is LIKE, and with fold ILIKE. escape is 0 if there is none.
type like struct {
	x, pattern node
	fold       bool
	escape     byte
	at         syntax.Pos
	made       *account
	out        Vector
	text       string   // the last pattern without _ and escape
	parts      []string // text, split at each %
	words      []string // of ILIKE '%word%', or of several of them with OR in between; nil for other patterns
	matcher    *words.Matcher
}

// newLike returns LIKE or ILIKE.
func (c *compiler) newLike(e *plan.Apply, args []node, out Vector) *like {
	k := &like{x: args[0], pattern: args[1], fold: e.Func == "ILIKE", at: e.At, made: c.of, out: out}
	if len(e.Args) == 3 {
		k.escape = e.Args[2].(*plan.Const).Value.(string)[0]
	}
	if p, is := k.pattern.(*constant); is && k.fold {
		text, is := p.value.(string)
		if is && k.plain(text) && len(k.parts) == 3 && k.parts[0] == "" && k.parts[1] != "" && k.parts[2] == "" {
			k.words = k.parts[1:2:2]
		}
	}
	return k
}

// either returns x ILIKE '%a%' OR x ILIKE '%b%' as one search for both words, nil if the operands are something else.
func either(l, r node, out Vector) node {
	a, isA := l.(*like)
	b, isB := r.(*like)
	if !isA || !isB || a.words == nil || b.words == nil || !sameValues(a.x, b.x) {
		return nil
	}
	return &like{x: a.x, fold: true, at: a.at, made: a.made, words: append(a.words, b.words...), out: out}
}

// sameValues reports whether two nodes surely have the same values.
func sameValues(a, b node) bool {
	l, isL := a.(*column)
	r, isR := b.(*column)
	return a == b || isL && isR && l.index == r.index
}

// anyWord is eval for words. The text of a row is not copied to make it lower case.
func (k *like) anyWord(b *batch, sel []int32) (*Vector, error) {
	x, err := k.x.eval(b, sel)
	if err != nil {
		return nil, err
	}
	if k.matcher == nil {
		k.matcher = words.New(k.words)
	}
	k.out.reset(b.n)
	k.out.nullsOf(x)
	for _, i := range sel {
		s := x.Texts[i]
		k.out.Bools[i] = k.matcher.In(unsafe.Slice(unsafe.StringData(s), len(s)))
	}
	return &k.out, nil
}

func (k *like) eval(b *batch, sel []int32) (*Vector, error) {
	if k.words != nil {
		return k.anyWord(b, sel)
	}
	if c, is := k.pattern.(*constant); is && !k.fold {
		if pattern, is := c.value.(string); is && k.plain(pattern) {
			return k.constant(b, sel)
		}
	}
	x, p, err := both(b, sel, k.x, k.pattern)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.out.nullsOf(x, p)
	for _, i := range sel {
		text, pattern := x.Texts[i], p.Texts[i]
		if k.fold {
			text, pattern = lower(text), lower(pattern)
		}
		if k.plain(pattern) {
			k.out.Bools[i] = matchesParts(text, k.parts)
			continue
		}
		if k.out.IsNull(i) {
			continue
		}
		if steps := len(text) * (len(pattern)/16 + 1) / 8; !k.made.work(steps) {
			return nil, &Error{k.at, i, k.made.tooSlow("LIKE", fmt.Sprintf("a text of %d bytes and a pattern of %d with _", len(text),
				len(pattern)), steps)}
		}
		match, ok := matches(text, pattern, k.escape)
		if !ok {
			return nil, &Error{k.at, i, "the pattern of LIKE ends with its escape character"}
		}
		k.out.Bools[i] = match
	}
	return &k.out, nil
}

// constant is eval for the pattern that plain has split.
func (k *like) constant(b *batch, sel []int32) (*Vector, error) {
	x, err := k.x.eval(b, sel)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.out.nullsOf(x)
	texts, out, parts := x.Texts, k.out.Bools, k.parts
	if len(parts) == 3 && parts[0] == "" && parts[2] == "" {
		within := parts[1]
		for _, i := range sel {
			out[i] = strings.Contains(texts[i], within)
		}
		return &k.out, nil
	}
	for _, i := range sel {
		out[i] = matchesParts(texts[i], parts)
	}
	return &k.out, nil
}

// plain splits a pattern at each %. It returns false if the pattern has another special character. It remembers the last
// pattern, because most often all rows have the same one.
func (k *like) plain(pattern string) bool {
	if k.parts != nil && k.text == pattern {
		return true
	}
	if k.escape != 0 || strings.Contains(pattern, "_") || !utf8.ValidString(pattern) {
		return false
	}
	k.text, k.parts = strings.Clone(pattern), strings.Split(pattern, "%")
	return true
}

// matchesParts reports whether a text consists of parts, in order, with anything between them.
func matchesParts(s string, parts []string) bool {
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return s == first
	}
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(s, part)
		if at < 0 {
			return false
		}
		s = s[at+len(part):]
	}
	return true
}

// matches reports whether a text matches a pattern: % stands for any characters, _ for one. After a mismatch it returns to the
// last %, which then takes one more character. Earlier ones need not be tried again. ok is false if the pattern ends with the
// escape character.
func matches(s, p string, escape byte) (match, ok bool) {
	if escape != 0 && endsWithEscape(p, escape) {
		return false, false
	}
	i, j := 0, 0
	backText, backPattern := -1, -1 // where to continue after the last %
	for i < len(s) {
		switch {
		case j < len(p) && escape != 0 && p[j] == escape && p[j+1] == s[i]:
			i, j = i+1, j+2
			continue
		case j < len(p) && p[j] == '%' && (escape != '%'):
			j++
			backText, backPattern = i, j
			continue
		case j < len(p) && p[j] == '_' && escape != '_':
			_, n := utf8.DecodeRuneInString(s[i:])
			i, j = i+n, j+1
			continue
		case j < len(p) && p[j] == s[i] && (escape == 0 || p[j] != escape):
			i, j = i+1, j+1
			continue
		}
		if backText < 0 {
			return false, true
		}
		_, n := utf8.DecodeRuneInString(s[backText:])
		backText += n
		i, j = backText, backPattern
	}
	for j < len(p) && p[j] == '%' && escape != '%' {
		j++
	}
	return j == len(p), true
}

func endsWithEscape(p string, escape byte) bool {
	for i := 0; i < len(p); i++ {
		if p[i] == escape {
			if i++; i == len(p) {
				return true
			}
		}
	}
	return false
}

// in is x IN (…): true if x equals an item, else NULL if x or an item is NULL. An item is compared only for the rows that equal no
// earlier item.
type in struct {
	compare
	items []node
	open  []int32
	null  []bool
	found Vector
}

func (k *in) eval(b *batch, sel []int32) (*Vector, error) {
	x, err := k.l.eval(b, sel)
	if err != nil {
		return nil, err
	}
	k.found.reset(b.n)
	k.compare.out.reset(b.n)
	k.null = room(k.null, b.n)
	k.open = append(k.open[:0], sel...)
	for _, i := range sel {
		k.null[i] = x.IsNull(i)
		k.found.Bools[i] = false
	}
	for _, item := range k.items {
		if len(k.open) == 0 {
			break
		}
		v, err := item.eval(b, k.open)
		if err != nil {
			return nil, err
		}
		k.rows(x, v, k.open)
		rest := k.open[:0]
		for _, i := range k.open {
			switch {
			case v.IsNull(i):
				k.null[i] = true
				rest = append(rest, i)
			case !x.IsNull(i) && k.compare.out.Bools[i]:
				k.found.Bools[i] = true
			default:
				rest = append(rest, i)
			}
		}
		k.open = rest
	}
	for _, i := range k.open {
		if k.null[i] {
			k.found.SetNull(i)
		}
	}
	return &k.found, nil
}

func newIn(args []node, kind types.Kind, out Vector) node {
	return &in{compare: compare{l: args[0], op: "=", kind: kind, out: Vector{Kind: types.Bool}}, items: args[1:], found: out}
}
