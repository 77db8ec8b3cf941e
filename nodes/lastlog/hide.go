package lastlog

import (
	"strings"

	"posta.dev/posta/internal/lazy"
)

const hidden = "[hidden]"

var (
	// A user and a password in an address: everything between :// and the last @ before the path.
	inAddress = lazy.Regexp(`://[^\s/?#"]*@`)
	// The query of an address: signed addresses of object stores have the signature there.
	inQuery = lazy.Regexp(`(://[^\s?#"]*)\?[^\s"]*`)
	// The value behind a name that says that it is secret, quoted or not.
	named = lazy.Regexp(
		`(?i)([\w.-]*(?:passw(?:or)?d|secret|token|authorization|credential|signature|api[_-]?key|access[_-]?key|private[_-]?key|cookie)[\w.-]*\\?"?\s*[=:]\s*)(\\?"(?:[^"\\]|\\.)*"?|(?:(?:bearer|basic) )?[^\s",;]+)`)
	// A key in PEM. slog writes its line ends as \n, so the whole key is in the same line.
	inPEM = lazy.Regexp(`-----BEGIN [^\n]*`)
)

// hide replaces what may be secret in a line: users and passwords in addresses, queries of addresses, values of names like password or
// token, and keys in PEM. Posta logs none of these on purpose; an error of a library or of the system may repeat an address.
func hide(text string) string {
	if strings.Contains(text, "://") {
		text = inAddress().ReplaceAllString(text, "://"+hidden+"@")
		text = inQuery().ReplaceAllString(text, "$1?"+hidden)
	}
	text = named().ReplaceAllString(text, "${1}"+hidden)
	return inPEM().ReplaceAllString(text, hidden)
}
