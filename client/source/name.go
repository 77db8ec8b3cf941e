package source

import (
	"path"
	"strings"

	"posta.dev/posta/client/source/format"
	"posta.dev/posta/client/source/unpack"
)

// Name is what the name of a file says.
type Name struct {
	Plain  string         // the name that the file would have as plain CSV
	Pack   *unpack.Format // what the file is packed with; nil if it is not packed, or only the content tells
	Format format.Format  // nil if only the content tells
}

// Says returns what a name says that need not fit a pattern.
func Says(name string) (n Name) {
	n.Plain = name
	if f, short := unpack.ByName(name); f.Read() {
		n.Pack, n.Plain = f, short
	}
	n.Format = promised(n.Plain)
	return n
}

// WithoutPack returns a name, or a pattern, without the ".gz" or the like at its end.
func WithoutPack(name string) string {
	if f, short := unpack.ByName(name); f.Read() {
		return short
	}
	return name
}

// Match reports whether a name fits a pattern of package path for CSV files: as it is, packed, or in another format than CSV.
func Match(pattern, name string) (n Name, fits bool) {
	n.Plain, fits = unpack.Matches(pattern, name)
	if fits {
		if n.Plain != name {
			n.Pack, _ = unpack.ByName(name)
		}
		n.Format = promised(n.Plain) // for a pattern that has such an ending itself
		return n, true
	}
	short := name
	if f, without := unpack.ByName(name); f.Read() {
		n.Pack, short = f, without
	}
	n.Format = promised(short)
	if n.Format == nil || !strings.HasSuffix(pattern, ".csv") {
		return Name{Plain: name}, false
	}
	n.Plain = strings.TrimSuffix(short, path.Ext(short)) + ".csv"
	fits, _ = path.Match(pattern, n.Plain)
	return n, fits
}
