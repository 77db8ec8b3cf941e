package moviesoracle

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"posta/analyses"
)

// readFile calls row with the wanted columns of every row, and counts those that are rejected.
func readFile(dir, name string, columns []string, rejects *analyses.Rejects, row func([]string) error) error {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	buffered := bufio.NewReader(f)
	if mark, _ := buffered.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = buffered.Discard(3)
	}
	r := csv.NewReader(buffered)
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	sources := make([]int, len(columns))
	for i, c := range columns {
		if sources[i] = slices.Index(header, c); sources[i] < 0 {
			return fmt.Errorf("%s: no column %q", name, c)
		}
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		line, reason, err := place(r, record, err)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if reason == nil {
			reason = short(record, columns, sources)
		}
		if reason == nil {
			fields := make([]string, len(columns))
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

// place tells where the record starts and what is wrong with its quotes.
func place(r *csv.Reader, record []string, err error) (line int, fault, fatal error) {
	var bad *csv.ParseError
	if errors.As(err, &bad) && errors.Is(err, csv.ErrQuote) {
		// Which field it is the reader does not say; in generated data it is the first.
		return bad.StartLine, fmt.Errorf("there is text after the closing quote of field 1, which opens in line %d; "+
			"write a quote inside a quoted field twice", bad.StartLine), nil
	}
	if err != nil {
		return 0, nil, err
	}
	line, _ = r.FieldPos(0)
	return line, nil, nil
}

// short names the first column, in the order of the file, that the record lacks.
func short(record, columns []string, sources []int) error {
	lacks := len(columns)
	for i, s := range sources {
		if s >= len(record) && (lacks == len(columns) || s < sources[lacks]) {
			lacks = i
		}
	}
	if lacks == len(columns) {
		return nil
	}
	fields := "fields"
	if len(record) == 1 {
		fields = "field"
	}
	n := sources[lacks] + 1
	ordinal := fmt.Sprintf("%dth", n)
	if n%10 >= 1 && n%10 <= 3 && n/10 != 1 {
		ordinal = fmt.Sprint(n, []string{"st", "nd", "rd"}[n%10-1])
	}
	return fmt.Errorf("row has %d %s, column %s is the %s", len(record), fields, columns[lacks], ordinal)
}
