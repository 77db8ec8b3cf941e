package sanitize

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// Dir copies all files below from to the same paths below to, and sanitizes those called *.csv. It returns how many
// records were left out.
func Dir(from, to string) (dropped int, err error) {
	err = filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		n, err := file(path, filepath.Join(to, name))
		dropped += n
		return err
	})
	if err != nil {
		return dropped, fmt.Errorf("sanitize %s: %w", from, err)
	}
	return dropped, nil
}

func file(from, to string) (dropped int, err error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return 0, err
	}
	out, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w := bufio.NewWriterSize(out, 1<<20)
	if filepath.Ext(from) == ".csv" {
		dropped, err = CSV(w, in)
	} else {
		_, err = io.Copy(w, in)
	}
	if err != nil {
		return dropped, fmt.Errorf("%s: %w", from, err)
	}
	return dropped, w.Flush()
}

// CSV copies records and returns how many it left out.
//
// The standard library's reader finds where each record ends. CSV copies the original bytes, not the parsed fields. The
// separator is the comma or semicolon that comes first in the first line.
func CSV(w io.Writer, r io.Reader) (dropped int, err error) {
	in := bufio.NewReaderSize(r, 1<<20)
	comma := commaOf(in)
	var raw bytes.Buffer // bytes that the reader has read but that are not yet copied
	records := csv.NewReader(io.TeeReader(in, &raw))
	records.Comma, records.FieldsPerRecord, records.ReuseRecord = comma, -1, true
	for at := int64(0); ; {
		_, err := records.Read()
		if errors.Is(err, io.EOF) {
			_, err := w.Write(valid(raw.Bytes())) // empty lines
			return dropped, err
		}
		record := raw.Next(int(records.InputOffset() - at))
		at = records.InputOffset()
		if errors.Is(err, csv.ErrQuote) {
			dropped++
			continue
		}
		if err != nil {
			return dropped, err
		}
		if _, err := w.Write(valid(record)); err != nil {
			return dropped, err
		}
	}
}

// commaOf finds the separator in the first line.
func commaOf(r *bufio.Reader) rune {
	line, _ := r.Peek(4096) // a shorter file is not an error
	if at := bytes.IndexAny(line, ",;\n"); at >= 0 && line[at] == ';' {
		return ';'
	}
	return ','
}

func valid(p []byte) []byte {
	if utf8.Valid(p) {
		return p
	}
	return bytes.ToValidUTF8(p, []byte("\ufffd"))
}
