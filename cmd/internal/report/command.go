package report

import (
	"strings"

	"posta.dev/posta/internal/lazy"
)

// address matches an address in an argument or in a statement.
var address = lazy.Regexp(`(?i)\b([a-z][a-z0-9+.-]*)://[^\s'"]*`)

// whole matches an argument that is an address, or NAME=ADDRESS, or --flag=ADDRESS. Everything up to its end belongs to the address.
var whole = lazy.Regexp(`(?is)^((?:-{0,2}[^\s'"=:]+=){0,2})([a-z][a-z0-9+.-]*://.*)$`)

// Shown returns a word of a command line in which addresses have no user, password and query. It is not escaped for display.
func Shown(word string) string {
	if m := whole().FindStringSubmatch(word); m != nil {
		return m[1] + hide(m[2])
	}
	return address().ReplaceAllStringFunc(word, hide)
}

// hide removes the user, the password and the query from an address. It does not parse the address, because an invalid address may contain
// a password, too.
func hide(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	at, query := strings.LastIndexByte(rest, '@'), strings.IndexAny(rest, "?#")
	switch {
	case at >= 0 && query >= 0 && query < at: // either the password has a question mark, or the query an @
		return scheme + "://…"
	case query >= 0:
		rest = rest[:query] + "?…"
	}
	if at >= 0 {
		rest = "…" + rest[at:]
	}
	return scheme + "://" + rest
}
