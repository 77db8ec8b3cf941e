package unpack

import (
	"bytes"
	"fmt"
	"strings"
)

// foreign is a kind of file that is not read, and would be taken for CSV, because any bytes may be CSV.
type foreign struct {
	what  string // with its article
	at    int    // where its mark is
	marks []string
	words bool   // a text could begin with the mark, so there has to be a byte that no text has
	way   string // what to do; %[1]s is the file
}

const (
	asTable = "write it as Parquet or CSV with the program that made it"
	asSheet = "save the sheet as CSV"
	asQuery = "write the table as CSV"
)

var foreigns = []foreign{
	{"an ORC file", 0, []string{"ORC"}, true, asTable},
	{"an Avro file", 0, []string{"Obj\x01"}, false, asTable},
	{"an Arrow file (Feather)", 0, []string{"ARROW1", "FEA1", "\xff\xff\xff\xff"}, false, asTable},
	{"an HDF5 file", 0, []string{"\x89HDF\r\n"}, false, asTable},
	{"a NetCDF file", 0, []string{"CDF\x01", "CDF\x02", "CDF\x05"}, false, asTable},
	{"a NumPy file", 0, []string{"\x93NUMPY"}, false, asTable},
	{"a Python pickle", 0, []string{"\x80\x02", "\x80\x03", "\x80\x04\x95", "\x80\x05\x95"}, false, asTable},
	{"a MATLAB file", 0, []string{"MATLAB 5.0 MAT-file"}, false, asTable},
	{"a Stata file", 0, []string{"<stata_dta>"}, false, asTable},
	{"an SPSS file", 0, []string{"$FL2", "$FL3"}, true, asTable},
	{"a SAS file", 0, []string{"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc2\xea\x81\x60", "HEADER RECORD*******LIBRARY"}, false,
		asTable},
	{"a file of R", 0, []string{"RDX2\n", "RDX3\n", "X\n\x00\x00\x00"}, false, asTable},
	{"an SQLite database", 0, []string{"SQLite format 3\x00"}, false,
		asQuery + ": sqlite3 -header -csv %[1]s 'SELECT * FROM NAME' > NAME.csv"},
	{"a DuckDB database", 8, []string{"DUCK"}, true, "write the table as Parquet: duckdb %[1]s -c \"COPY NAME TO 'NAME.parquet'\""},
	{"a PostgreSQL dump", 0, []string{"PGDMP", "PGCOPY\n\xff"}, true, asQuery},
	{"an Excel workbook, or another file of Office", 0, []string{"\xd0\xcf\x11\xe0\xa1\xb1"}, false, asSheet},
	{"a PDF document", 0, []string{"%PDF-"}, false, "put its table into a CSV file"},
	{"a picture", 0, []string{"\x89PNG\r\n", "\xff\xd8\xff", "GIF87a", "GIF89a", "II*\x00", "MM\x00*"}, false,
		"it has no rows; name the file with the table"},
	{"a picture, a sound or a video", 0, []string{"RIFF", "BM"}, true, "it has no rows; name the file with the table"},
	{"a RAR archive", 0, []string{"Rar!\x1a\x07"}, false, "take the file out of it: unrar p -inul %[1]s"},
	{"an lzip file", 0, []string{"LZIP\x01"}, false, "unpack it: lzip -dc %[1]s"},
	{"a Snappy file", 0, []string{"\xff\x06\x00\x00sNaPpY"}, false, "unpack it"},
	{"a program", 0, []string{"\x7fELF"}, false, "name the file with the table"},
	{"an XML file", 0, []string{"<?xml"}, false, asTable},
}

// pages are how web pages begin, in small letters. Servers send one in place of a file that needs a log-in, or is gone.
var pages = []string{"<!doctype html", "<html", "<head"}

// refuseForeign returns an error for a file of a kind that is not read. head is what has been read of it so far.
func refuseForeign(path string, head []byte) error {
	for i := range foreigns {
		if k := &foreigns[i]; k.begins(head) {
			way := k.way
			if strings.Contains(way, "%") {
				way = fmt.Sprintf(way, path)
			}
			return fmt.Errorf("%s is %s, which is not read; %s", path, k.what, way)
		}
	}
	start := bytes.ToLower(bytes.TrimLeft(head[:min(len(head), 1<<10)], " \t\r\n\ufeff"))
	for _, p := range pages {
		if rest, is := bytes.CutPrefix(start, []byte(p)); is && (len(rest) == 0 || bytes.IndexByte([]byte("> \t\r\n"), rest[0]) >= 0) {
			return fmt.Errorf("%s is a web page, as servers send it in place of a file that needs a log-in or is gone; open it to see what it "+
				"says, and save the file itself", path)
		}
	}
	return nil
}

func (k *foreign) begins(head []byte) bool {
	if len(head) < k.at {
		return false
	}
	for _, mark := range k.marks {
		if bytes.HasPrefix(head[k.at:], []byte(mark)) {
			return !k.words || bytes.ContainsFunc(head, func(r rune) bool { return r < '\t' || r > '\r' && r < ' ' && r != '\x1a' && r != '\x1e' })
		}
	}
	return false
}

// office says what a ZIP archive is in truth, by the name of its first file; nil for a ZIP archive of other files.
func office(path string, head []byte) error {
	const fixed = 30 // bytes before the name of a file
	if len(head) < fixed {
		return nil
	}
	first := head[fixed:]
	for _, name := range []string{"[Content_Types].xml", "_rels/", "docProps/", "xl/", "mimetypeapplication/vnd.oasis.opendocument"} {
		if bytes.HasPrefix(first, []byte(name)) {
			return fmt.Errorf("%s is a file of Office, such as an Excel workbook (XLSX), which is not read; %s", path, asSheet)
		}
	}
	return nil
}
