// Package source reads from the names of files what a client can know before it opens them. The packages below it read the content.
package source

import (
	"path"
	"strings"

	"posta.dev/posta/client/source/unpack"
)

// Form is how rows are written in a file.
type Form string

// The forms there are. With Text, the content decides whether it is CSV, JSON Lines or Parquet.
const (
	Text      Form = ""
	JSONLines Form = "JSON Lines"
	Parquet   Form = "Parquet"
)

// forms are the endings of names that may replace ".csv".
var forms = map[string]Form{".jsonl": JSONLines, ".ndjson": JSONLines, ".json": JSONLines, ".parquet": Parquet}

// Name is what the name of a file says.
type Name struct {
	Plain string         // the name that the file would have as plain CSV
	Pack  *unpack.Format // what the file is packed with; nil if it is not packed, or only the content tells
	Form  Form
}

// Says returns what a name says that need not fit a pattern.
func Says(name string) (n Name) {
	n.Plain = name
	if f, short := unpack.ByName(name); f.Read() {
		n.Pack, n.Plain = f, short
	}
	n.Form = forms[path.Ext(n.Plain)]
	return n
}

// WithoutPack returns a name, or a pattern, without the ".gz" or the like at its end.
func WithoutPack(name string) string {
	if f, short := unpack.ByName(name); f.Read() {
		return short
	}
	return name
}

// Match reports whether a name fits a pattern of package path for CSV files: as it is, packed, or in another form than CSV.
func Match(pattern, name string) (n Name, fits bool) {
	n.Plain, fits = unpack.Matches(pattern, name)
	if fits {
		if n.Plain != name {
			n.Pack, _ = unpack.ByName(name)
		}
		n.Form = forms[path.Ext(n.Plain)] // for a pattern that has such an ending itself
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
