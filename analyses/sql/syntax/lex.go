package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a text.
const (
	MaxText  = 64 << 10 // bytes
	MaxDepth = 200      // nested parentheses, calls, subqueries and prefix operators
)

type kind uint8

const (
	end kind = iota
	word
	quoted // a name in double quotes
	text   // a string
	number
	param
	symbol
)

// token is a piece of the text. low is what the parser compares: a word in lower case, or a symbol. It is empty for all other
// kinds, so a string never looks like a keyword.
type token struct {
	kind kind
	at   Pos
	text string // without quotes, without a number's underscores, without a parameter's sign
	low  string
}

// nameComment is a comment `-- name: x`; before is the index of the token after it.
type nameComment struct {
	before int
	ident  Ident
}

type lexer struct {
	text   string
	i      int
	tokens []token
	names  []nameComment
	asked  int  // how many ? there were
	open   bool // the last string, name or comment has no end
}

// symbols has the longest first.
var symbols = []string{"!~~*", "->>", "!~~", "!~*", "~~*", "~~~", "<=>", "~*", "^@", "<>", "<=", ">=", "==", "!=", "!~", "~~", "||", "//",
	"::", ":=", "=>", "->", "**", "&&", "<<", ">>", "@>", "<@",
	"+", "-", "*", "/", "%", "=", "<", ">", "~", "(", ")", "[", "]", "{", "}", ",", ".", ";", ":", "^", "&", "|", "!", "@"}

func (l *lexer) fail(at int, message, hint string) { panic(NewError(l.text, Pos(at), message, hint)) }

// run cuts the text into tokens; the last one is end.
func (l *lexer) run() {
	for l.skip() {
		l.tokens = append(l.tokens, l.next())
	}
	l.tokens = append(l.tokens, token{kind: end, at: Pos(len(l.text))})
}

// skip skips blanks and comments, and reports whether something follows.
func (l *lexer) skip() bool {
	for l.i < len(l.text) {
		r, n := utf8.DecodeRuneInString(l.text[l.i:])
		switch {
		case unicode.IsSpace(r) || r == '\uFEFF' && l.i == 0:
			l.i += n
		case strings.HasPrefix(l.text[l.i:], "--"):
			l.lineComment()
		case strings.HasPrefix(l.text[l.i:], "/*"):
			l.blockComment()
		default:
			return true
		}
	}
	return false
}

func (l *lexer) lineComment() {
	start := l.i
	if n := strings.IndexByte(l.text[l.i:], '\n'); n >= 0 {
		l.i += n
	} else {
		l.i = len(l.text)
	}
	comment := l.text[start+2 : l.i]
	key, value, found := strings.Cut(comment, ":")
	if !found || !strings.EqualFold(strings.TrimSpace(key), "name") {
		return
	}
	name := strings.TrimSpace(value)
	at := l.i - len(strings.TrimLeft(value, " \t"))
	if !isAnswerName(name) {
		l.fail(at, fmt.Sprintf("%q cannot name an answer", clip(name)), "A name has letters, digits, _ and -, and begins with a letter or _.")
	}
	l.names = append(l.names, nameComment{len(l.tokens), Ident{Pos(at), name}})
}

func isAnswerName(name string) bool {
	for i, r := range name {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || r != '-' && !unicode.IsDigit(r)) {
			return false
		}
	}
	return name != "" && len(name) <= 100
}

// blockComment skips a comment. Comments may be nested.
func (l *lexer) blockComment() {
	start, depth := l.i, 0
	for l.i < len(l.text) {
		switch {
		case strings.HasPrefix(l.text[l.i:], "/*"):
			depth++
			l.i += 2
		case strings.HasPrefix(l.text[l.i:], "*/"):
			l.i += 2
			if depth--; depth == 0 {
				return
			}
		default:
			l.i++
		}
	}
	l.open = true
	l.fail(start, "the comment that begins here has no end", "It ends with */, and comments nest.")
}

func (l *lexer) next() token {
	at := l.i
	r, _ := utf8.DecodeRuneInString(l.text[at:])
	switch {
	case isLetter(r):
		l.i = l.wordEnd(at)
		w := l.text[at:l.i]
		if low := lower(w); l.i < len(l.text) && l.text[l.i] == '\'' && (low == "e" || low == "x" || low == "b") {
			l.fail(at, "strings with a letter in front are not supported", "Write the character itself, or chr(10) for a line feed.")
		}
		return token{word, Pos(at), w, lower(w)}
	case r == '"':
		name := l.quotedText('"', "name")
		if name == "" {
			l.fail(at, "a name is empty", "Strings stand in single quotes: ''.")
		}
		return token{kind: quoted, at: Pos(at), text: name}
	case r == '\'':
		return token{kind: text, at: Pos(at), text: l.quotedText('\'', "string")}
	case isDigit(l.text[at]) || r == '.' && at+1 < len(l.text) && isDigit(l.text[at+1]):
		return l.number()
	case r == '$' && l.dollarQuote() != "":
		return token{kind: text, at: Pos(at), text: l.dollarQuoted()}
	case r == '?', r == '$' || r == ':' && at+1 < len(l.text) && l.text[at+1] != ':' && l.text[at+1] != '=':
		if t, ok := l.param(); ok {
			return t
		}
	}
	for _, s := range symbols {
		if strings.HasPrefix(l.text[at:], s) {
			l.i += len(s)
			return token{symbol, Pos(at), s, s}
		}
	}
	hint := ""
	if r == '`' {
		hint = `Names with special characters stand in double quotes: "a b".`
	}
	l.fail(at, fmt.Sprintf("the character %q has no meaning here", r), hint)
	return token{}
}

// dollarQuote returns the $$ or $name$ that begins a string here, "" if none does.
func (l *lexer) dollarQuote() string {
	if n := l.wordEnd(l.i + 1); n < len(l.text) && l.text[n] == '$' {
		return l.text[l.i : n+1]
	}
	return ""
}

// dollarQuoted reads a string up to the next occurrence of the quote before it. Nothing in it has another meaning.
func (l *lexer) dollarQuoted() string {
	start, quote := l.i, l.dollarQuote()
	s, _, ended := strings.Cut(l.text[start+len(quote):], quote)
	if !ended {
		l.open = true
		l.fail(start, "the string that begins here has no end", "It ends with "+quote+".")
	}
	l.i += len(s) + 2*len(quote)
	return s
}

// param is $name, :name, $1 for the first of several values, or ? for the next one. A colon without a name is a symbol.
func (l *lexer) param() (token, bool) {
	at := l.i
	if l.text[at] == '?' {
		l.i++
		l.asked++
		return token{kind: param, at: Pos(at), text: strconv.Itoa(l.asked)}, true
	}
	r, _ := utf8.DecodeRuneInString(l.text[at+1:])
	if isLetter(r) || l.text[at] == '$' && unicode.IsDigit(r) {
		l.i = l.wordEnd(at + 1)
		return token{kind: param, at: Pos(at), text: l.text[at+1 : l.i]}, true
	}
	if l.text[at] == '$' {
		l.fail(at, "a parameter has no name", "Write $name or :name, and give its value with --param name=value.")
	}
	return token{}, false
}

func (l *lexer) wordEnd(i int) int {
	for i < len(l.text) {
		r, n := utf8.DecodeRuneInString(l.text[i:])
		if !isLetter(r) && !unicode.IsDigit(r) {
			break
		}
		i += n
	}
	return i
}

// quotedText reads a text in quotes. Two quotes within it stand for one.
func (l *lexer) quotedText(quote byte, what string) string {
	start := l.i
	var b strings.Builder
	for l.i++; ; l.i++ {
		n := strings.IndexByte(l.text[l.i:], quote)
		if n < 0 {
			l.open = true
			l.fail(start, "the "+what+" that begins here has no end", "")
		}
		b.WriteString(l.text[l.i : l.i+n])
		l.i += n + 1
		if l.i >= len(l.text) || l.text[l.i] != quote {
			return b.String()
		}
		b.WriteByte(quote)
	}
}

func (l *lexer) number() token {
	at := l.i
	l.digits()
	if l.i < len(l.text) && l.text[l.i] == '.' {
		l.i++
		l.digits()
	}
	if l.i < len(l.text) && l.text[l.i]|0x20 == 'e' {
		back := l.i
		l.i++
		if l.i < len(l.text) && (l.text[l.i] == '+' || l.text[l.i] == '-') {
			l.i++
		}
		if n := l.digits(); n == 0 {
			l.i = back
		}
	}
	if r, _ := utf8.DecodeRuneInString(l.text[l.i:]); l.i < len(l.text) && isLetter(r) {
		if word := l.text[at:l.wordEnd(l.i)]; len(word) > 2 && word[0] == '0' && strings.IndexByte("xXbBoO", word[1]) >= 0 {
			l.fail(at, fmt.Sprintf("%q is not supported as a number", clip(word)), "Numbers are written in decimal.")
		}
		l.fail(at, fmt.Sprintf("%q is neither a number nor a name", clip(l.text[at:l.wordEnd(l.i)])),
			`Names that begin with a digit stand in double quotes: "2nd".`)
	}
	return token{kind: number, at: Pos(at), text: strings.ReplaceAll(l.text[at:l.i], "_", "")}
}

// digits skips digits, with single underscores between them.
func (l *lexer) digits() (n int) {
	for l.i < len(l.text) && (isDigit(l.text[l.i]) || n > 0 && l.text[l.i] == '_' && l.i+1 < len(l.text) && isDigit(l.text[l.i+1])) {
		l.i++
		n++
	}
	return n
}

// lower and upper change only ASCII letters, because keywords have no others. strings.ToLower would turn the Kelvin sign into a
// k.
func lower(s string) string { return mapASCII(s, 'A', 'Z') }
func upper(s string) string { return mapASCII(s, 'a', 'z') }

func mapASCII(s string, from, to rune) string {
	return strings.Map(func(r rune) rune {
		if from <= r && r <= to {
			return r ^ 0x20
		}
		return r
	}, s)
}

func isLetter(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Mn, r) }
func isDigit(c byte) bool  { return c-'0' <= 9 }

// clip shortens the text that a message quotes.
func clip(s string) string {
	if len(s) <= 40 {
		return s
	}
	n := 37
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
