package main

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// columns are the needed columns of a file: name and type.
type columns [][2]string

// scan returns a call of DuckDB's reader for one file, with names and types for its columns, so nothing is guessed and rows
// with other values are skipped. The header says where each column is. Columns that are not needed are read as text, which
// costs nothing as long as nothing uses them.
//
// null_padding stays off. With it, if several threads read a file whose values have line ends, DuckDB makes other rows.
func scan(path string, comma rune, wanted columns) (string, error) {
	header, err := headerOf(path, comma)
	if err != nil {
		return "", fmt.Errorf("header of %s: %w", path, err)
	}
	var all []string
	missing := slices.Clone(wanted)
	for i, name := range header {
		at := slices.IndexFunc(missing, func(c [2]string) bool { return c[0] == name })
		if at < 0 {
			all = append(all, fmt.Sprintf("'unused %d': 'VARCHAR'", i))
			continue
		}
		all = append(all, quote(name)+": "+quote(missing[at][1]))
		missing = slices.Delete(missing, at, at+1)
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("%s has no column %q", path, missing[0][0])
	}
	return fmt.Sprintf(
		`read_csv(%s, auto_detect = false, header = true, delim = '%c', quote = '"', escape = '"', ignore_errors = true, columns = {%s})`,
		quote(path), comma, strings.Join(all, ", ")), nil
}

func headerOf(path string, comma rune) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	buffered := bufio.NewReader(r)
	if mark, _ := buffered.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = buffered.Discard(3)
	}
	c := csv.NewReader(buffered)
	c.Comma = comma
	return c.Read()
}

// quote makes a string of SQL.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// files returns the files that match pattern, packed or not, sorted by name.
func (e *engine) files(pattern string) ([]string, error) {
	var all []string
	for _, p := range []string{pattern, pattern + ".gz"} {
		found, err := filepath.Glob(filepath.Join(e.dir, p))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no %s in %s", pattern, e.dir)
	}
	sort.Strings(all)
	return all, nil
}

// scanOf returns the scan of the one file of that name.
func (e *engine) scanOf(name string, comma rune, wanted columns) (string, error) {
	found, err := e.files(name)
	if err != nil {
		return "", err
	}
	return scan(found[0], comma, wanted)
}
