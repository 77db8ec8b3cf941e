package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"posta.dev/posta/client/source/format"
	"posta.dev/posta/client/source/jsonl"
	source "posta.dev/posta/client/source/text"
	"posta.dev/posta/rows/csv"
)

// jsonFile puts the text of a file of JSONTestSuite into a line of JSON Lines, as a value of an object, and reads that. The first letter of
// the file's name says what has to come out: a text with y is read with its value, one with n is rejected, and i leaves it to the parser.
func (s *suite) jsonFile(ctx context.Context, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	if name[0] == 'y' {
		text = bytes.Map(func(r rune) rune { // white space may be any; but a line feed would end the line
			if r == '\n' || r == '\r' {
				return ' '
			}
			return r
		}, text)
	}
	type reading struct {
		rows   []string // "" for a rejected one
		failed error
		stack  []byte
	}
	done := make(chan reading, 1)
	go func() {
		var r reading
		defer func() {
			if p := recover(); p != nil {
				r.failed, r.stack = fmt.Errorf("%v", p), debug.Stack()
			}
			done <- r
		}()
		if _, err := readLines(text); err != nil { // as a file of its own it may be refused
			r.failed = nil
		}
		r.rows, r.failed = readLines([]byte("{\"v\":0}\n{\"v\":" + string(text) + "}\n{\"v\":2}\n"))
	}()
	var r reading
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.limit):
		s.note(hangs, path, shown(text), "it is not read to its end")
		return nil
	case r = <-done:
	}
	switch within, why := r.rows, ""; {
	case r.stack != nil:
		s.note(panicked, path, shown(text), fmt.Sprintf("%v\n%s", r.failed, r.stack))
	case r.failed != nil || len(within) < 3 || within[0] != "0" || within[len(within)-1] != "2":
		s.note(wrong, path, shown(text), fmt.Sprintf("the lines around it are lost: %q, %v", within, r.failed))
	default:
		read := strings.Join(within[1:len(within)-1], "")
		want, is := valueOf(text)
		switch name[0] {
		case 'y':
			if read != "+"+want || !is {
				why = fmt.Sprintf("it is read as %.100q", read)
			}
		case 'n':
			if read != "" {
				why = fmt.Sprintf("it is taken for JSON, and read as %.100q", read)
			}
		default:
			if read != "" && is && read != "+"+want {
				why = fmt.Sprintf("it is read as %.100q, and is %.100q", read, want)
			} else {
				s.note(deliberate, path, shown(text), "")
				return nil
			}
		}
		if why != "" {
			s.note(wrong, path, shown(text), why)
			return nil
		}
		s.note(equal, path, shown(text), "")
	}
	return nil
}

func shown(text []byte) string { return fmt.Sprintf("%.100q", text) }

// valueOf returns what has to be read for a text, by Go's parser.
func valueOf(text []byte) (value string, is bool) {
	if !json.Valid(text) {
		return "", false
	}
	value = strings.Trim(string(text), " \t\r\n")
	switch {
	case value == "null":
		return "", true
	case value[0] == '"':
		err := json.Unmarshal(text, &value)
		return value, err == nil
	}
	return value, true
}

// readLines reads JSON Lines as the cluster does. A row that is not rejected begins with a plus, except the first and the last.
func readLines(data []byte) (rows []string, err error) {
	if _, err := (jsonl.Format{}).Detect(&format.File{File: &source.File{Head: data[:min(len(data), 64<<10)]}}); err != nil {
		return nil, err
	}
	wanted := []csv.Column{{Name: "v", Optional: true}}
	cut := jsonl.Lines.NewCutter(bytes.NewReader(data), wanted, ',', 1<<20, 16<<20)
	header, err := cut.Header()
	if err != nil {
		return nil, err
	}
	h, err := csv.ParseHeader(header, ',')
	if err != nil {
		return nil, err
	}
	m, err := h.Find(wanted)
	if err != nil {
		return nil, err
	}
	for {
		chunk, line, err := cut.Next(nil)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		var s csv.Scanner
		for s.Reset(chunk, ',', m, line); s.Next(); {
			switch {
			case s.Err() != nil:
				rows = append(rows, "")
			case s.Line() == 1 || bytes.Count(data, []byte{'\n'}) == int(s.Line()):
				rows = append(rows, string(s.Fields()[0]))
			default:
				rows = append(rows, "+"+string(s.Fields()[0]))
			}
		}
	}
}
