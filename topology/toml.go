package topology

import (
	"fmt"
	"strings"
	"unicode"

	"posta.dev/posta/internal/lazy"
)

// tomlString writes s as a basic TOML string. strconv.Quote was rejected: TOML has no \x and no \a.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r > 0xffff && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\U%08X`, r)
		case !unicode.IsPrint(r): // YAML, which has these strings too, accepts more characters as line ends than TOML
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

var bareForm = lazy.Regexp(`^[A-Za-z0-9_-]+$`)

// bareKey returns a key in the form for messages: a key that needs quotes gets them, and then contains no line break.
func bareKey(name string) string {
	if bareForm().MatchString(name) {
		return name
	}
	return tomlString(name)
}

func tomlList[T ~string](words []T) string {
	return "[" + strings.Join(texts(words, func(w T) string { return tomlString(string(w)) }), ", ") + "]"
}
