package ask

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"posta.dev/posta/analyses/sql/functions"
	"posta.dev/posta/analyses/sql/syntax"
)

// promptWords completes the words of statements.
type promptWords struct {
	Before  string              // the lines of the statement above the one that is typed
	columns map[string][]string // columns of tables that were named; each table is looked up once
}

// forget must be called when tables have changed.
func (w *promptWords) forget() { w.columns = nil }

// commandWords are the commands of the prompt itself.
var commandWords = []string{".exit", ".explain", ".help", ".mode", ".quit", ".read", ".schema", ".tables"}

// Complete returns the line with its last word completed as far as that is certain, and the words that it may become. columnsOf looks up
// the columns of a table.
func (w *promptWords) Complete(line string, tables []string, columnsOf func(table string) []string) (string, []string) {
	at := len(line)
	for at > 0 {
		r, n := utf8.DecodeLastRuneInString(line[:at])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !(r == '.' && w.Before == "" && at == n) {
			break
		}
		at -= n
	}
	word := line[at:]
	if word == "" {
		return line, nil
	}
	var known []string
	ahead := strings.Fields(strings.ToLower(w.Before + line[:at]))
	switch {
	case strings.HasPrefix(word, "."):
		known = commandWords
	case len(ahead) > 0 && slices.Contains([]string{"from", "join", "describe", "summarize", ".schema"}, ahead[len(ahead)-1]):
		known = tables
	default:
		known = slices.Concat(tables, w.columnsOf(w.Before+line, tables, columnsOf), keywordsLike(word), functions.Names())
	}
	var fits []string
	for _, k := range known {
		name := k
		if !plainName(k) {
			continue // such a name needs quotes, and the typed word has none
		}
		if len(name) >= len(word) && strings.EqualFold(name[:len(word)], word) && !slices.Contains(fits, name) {
			fits = append(fits, name)
		}
	}
	slices.Sort(fits)
	if len(fits) == 0 {
		return line, nil
	}
	if longer := commonStart(fits); len(longer) > len(word) || len(fits) == 1 {
		return line[:at] + longer, fits
	}
	return line, fits
}

// keywordsLike returns the keywords in the case of the typed word.
func keywordsLike(word string) []string {
	all := syntax.Keywords()
	if word == strings.ToUpper(word) {
		for i := range all {
			all[i] = strings.ToUpper(all[i])
		}
	}
	return all
}

// plainName reports whether a name needs no quotes.
func plainName(name string) bool {
	for i, r := range strings.TrimPrefix(name, ".") {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return name != ""
}

// commonStart returns the longest beginning that all words share, as the first one writes it.
func commonStart(all []string) string {
	start := all[0]
	for _, w := range all[1:] {
		n := 0
		for n < len(start) && n < len(w) && strings.EqualFold(start[:n+1], w[:n+1]) {
			n++
		}
		start = start[:n]
	}
	for !utf8.ValidString(start) {
		start = start[:len(start)-1]
	}
	return start
}

// columnsOf returns the columns of the tables that a text names.
func (w *promptWords) columnsOf(text string, tables []string, look func(table string) []string) (all []string) {
	named := strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, t := range tables {
		if !slices.ContainsFunc(named, func(n string) bool { return strings.EqualFold(n, t) }) {
			continue
		}
		columns, known := w.columns[t]
		if !known {
			if w.columns == nil {
				w.columns = map[string][]string{}
			}
			columns = look(t)
			w.columns[t] = columns
		}
		all = append(all, columns...)
	}
	return all
}
