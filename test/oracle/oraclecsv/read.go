package oraclecsv

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"posta.dev/posta/analyses"
)

// Read calls row with the wanted columns of every row; comma is the separator. It counts the rejected rows: those for which row
// returns an error, and those that have another number of fields than the header, or broken quotes. name is the file's name in the rejects.
func Read(path, name string, comma rune, columns []string, rejects *analyses.Rejects, row func([]string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buffered := bufio.NewReader(f)
	if mark, _ := buffered.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = buffered.Discard(3)
	}
	r := csv.NewReader(buffered)
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = comma, -1, true
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	header = slices.Clone(header) // the reader uses its memory again
	sources, err := find(header, columns)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fields := make([]string, len(columns))
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		line, lines, reason, err := lineAndFault(r, record, err)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if reason == nil {
			if reason = wrong(record, len(header)); reason != nil {
				if lines += strings.Count(strings.Join(record, ""), "\n"); lines > 1 {
					reason = fmt.Errorf("%w (the row has %d lines)", reason, lines)
				}
			}
		}
		if reason == nil {
			for i, s := range sources {
				fields[i] = record[s]
			}
			reason = row(fields)
		}
		if reason != nil {
			rejects.Add(name, uint64(line), reason)
			rejects.Rows += uint64(lines - 1) // a row whose form is wrong counts as many rows as it has lines
		}
	}
}

// lineAndFault returns the line where the record starts, and what is wrong with the record's quotes; lines is then how many lines it has,
// else 1.
func lineAndFault(r *csv.Reader, record []string, err error) (line, lines int, fault, fatal error) {
	var bad *csv.ParseError
	if errors.As(err, &bad) && errors.Is(err, csv.ErrQuote) {
		// The reader does not say which field it is. In generated data it is the first.
		return bad.StartLine, bad.Line - bad.StartLine + 1, fmt.Errorf(
			"there is text after the closing quote of field 1, which opens in line %d; "+
				"write a quote inside a quoted field twice", bad.StartLine), nil
	}
	if err != nil {
		return 0, 0, nil, err
	}
	line, _ = r.FieldPos(0)
	return line, 1, nil, nil
}

func find(header, columns []string) ([]int, error) {
	sources := make([]int, len(columns))
	for i, c := range columns {
		sources[i] = -1
		for j, h := range header {
			if h == c {
				sources[i] = j
			}
		}
		if sources[i] < 0 {
			return nil, fmt.Errorf("no column %q", c)
		}
	}
	return sources, nil
}

// wrong says what is wrong with the number of a record's fields. A separator behind the last field is allowed.
func wrong(record []string, need int) error {
	have, plural, hint := len(record), "s", ""
	switch {
	case have == need, have == need+1 && record[need] == "":
		return nil
	case have == 1:
		plural = ""
	case have > need:
		hint = "; a field that holds the separator has to stand in quotes"
	}
	return fmt.Errorf("row has %d field%s, and the header has %d%s", have, plural, need, hint)
}
