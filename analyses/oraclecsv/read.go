package oraclecsv

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"

	"posta.dev/posta/analyses"
)

// Read calls row with the wanted columns of every row; comma is the separator. It counts the rejected rows: those for which row
// returns an error, and those that are too short or have broken quotes. name is the file's name in the rejects.
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
		line, reason, err := lineAndFault(r, record, err)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if reason == nil {
			reason = short(record, columns, sources)
		}
		if reason == nil {
			for i, s := range sources {
				fields[i] = record[s]
			}
			reason = row(fields)
		}
		if reason != nil {
			rejects.Add(name, uint64(line), reason)
		}
	}
}

// lineAndFault returns the line where the record starts, and what is wrong with the record's quotes.
func lineAndFault(r *csv.Reader, record []string, err error) (line int, fault, fatal error) {
	var bad *csv.ParseError
	if errors.As(err, &bad) && errors.Is(err, csv.ErrQuote) {
		// The reader does not say which field it is. In generated data it is the first.
		return bad.StartLine, fmt.Errorf("there is text after the closing quote of field 1, which opens in line %d; "+
			"write a quote inside a quoted field twice", bad.StartLine), nil
	}
	if err != nil {
		return 0, nil, err
	}
	line, _ = r.FieldPos(0)
	return line, nil, nil
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

// short names the first column, in the order of the file, that the record lacks.
func short(record, columns []string, sources []int) error {
	first := -1
	for i, s := range sources {
		if s >= len(record) && (first < 0 || s < sources[first]) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	n := sources[first] + 1
	suffix := "th"
	if n%10 >= 1 && n%10 <= 3 && n/10%10 != 1 {
		suffix = []string{"st", "nd", "rd"}[n%10-1]
	}
	plural := "s"
	if len(record) == 1 {
		plural = ""
	}
	return fmt.Errorf("row has %d field%s, column %s is the %d%s", len(record), plural, columns[first], n, suffix)
}
