// Package source is what a client knows of files before it opens them: what their names say. The packages below it read what is in them.
package source

import (
	"path"
	"strings"

	"posta.dev/posta/client/source/unpack"
)

// Form is how rows are written in a file.
type Form string

// The forms there are. Text is CSV as well as JSON Lines: its first line tells.
const (
	Text      Form = ""
	JSONLines Form = "JSON Lines"
)

// forms are the ends of names that stand for ".csv".
var forms = map[string]Form{".jsonl": JSONLines, ".ndjson": JSONLines, ".json": JSONLines}

// Name is what the name of a file says.
type Name struct {
	Plain string         // the name that the file would have as plain CSV
	Pack  *unpack.Format // what it is packed with; nil: it is not, or only the content tells
	Form  Form
}

// Says returns what a name says that fits no pattern.
func Says(name string) (n Name) {
	n.Plain = name
	if f, short := unpack.ByName(name); f.Read() {
		n.Pack, n.Plain = f, short
	}
	n.Form = forms[path.Ext(n.Plain)]
	return n
}

// Match reports whether a name fits a pattern of package path for CSV files: as it is, packed, or in another form than CSV.
func Match(pattern, name string) (n Name, fits bool) {
	n.Plain, fits = unpack.Matches(pattern, name)
	if fits {
		if n.Plain != name {
			n.Pack, _ = unpack.ByName(name)
		}
		n.Form = forms[path.Ext(n.Plain)] // of a pattern that says so
		return n, true
	}
	short := name
	if f, without := unpack.ByName(name); f.Read() {
		n.Pack, short = f, without
	}
	n.Form = forms[path.Ext(short)]
	if n.Form == Text || !strings.HasSuffix(pattern, ".csv") {
		return Name{Plain: name}, false
	}
	n.Plain = strings.TrimSuffix(short, path.Ext(short)) + ".csv"
	fits, _ = path.Match(pattern, n.Plain)
	return n, fits
}
