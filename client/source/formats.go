// Package source has the table of file formats, and reads from the names of files what a client can know before it opens them. The packages
// below it read the content.
package source

import (
	"path"
	"slices"

	"posta.dev/posta/client/source/csvfile"
	"posta.dev/posta/client/source/format"
	"posta.dev/posta/client/source/jsonl"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/client/source/text"
)

// Formats are the formats that are read. Each file is of the first one that detects it, so CSV is the last.
var Formats = []format.Format{
	parquet.Format{},
	jsonl.Format{},
	csvfile.Format{},
}

// Anywhere returns the format of a file that is read at any place, by its first format.HeadBytes; nil if it has none of these. promised is
// the format that its name promises, or nil.
func Anywhere(head []byte, promised format.Format) (format.Format, error) {
	for _, f := range Formats {
		if !f.Anywhere() {
			continue
		}
		is, err := f.Detect(&format.File{File: &text.File{Head: head}, Named: f == promised})
		if is || err != nil {
			return f, err
		}
	}
	return nil, nil
}

// promised returns the format that the end of a name promises, nil if it promises none.
func promised(name string) format.Format {
	i := slices.IndexFunc(Formats, func(f format.Format) bool { return slices.Contains(f.Endings(), path.Ext(name)) })
	if i < 0 {
		return nil
	}
	return Formats[i]
}
