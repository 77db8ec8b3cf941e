package text

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"posta.dev/posta/rows/csv"
)

func in16(o binary.AppendByteOrder, text string) (out []byte) {
	for _, u := range utf16.Encode([]rune(text)) {
		out = o.AppendUint16(out, u)
	}
	return out
}

func TestC1_SeparatorsAreFound(t *testing.T) {
	needed := []csv.Column{{Name: "id"}, {Name: "line"}}
	for _, c := range []struct {
		text string
		want Want
		is   byte
	}{
		{"id,line\n", Want{Columns: needed}, ','},
		{"id;line\n1,2;3\n", Want{Columns: needed}, ';'},
		{"\ufeffid\tline", Want{Columns: needed}, '\t'},
		{"\r\nx|line|id\r\n", Want{Columns: needed}, '|'},
		{"id;line,with;commas,in;names\n", Want{Columns: needed}, 0}, // the file fails with either separator, so the stream's own is kept
		{"\"id\";\"a,b,c\";line\n", Want{Columns: needed}, ';'},
		{"id,line\n", Want{Columns: needed, Comma: ';'}, ','},
		{"id;line\n", Want{Comma: ';'}, ';'},
		{"id|line;x\n", Want{Comma: ';'}, ';'},
		{"id|line|x\n", Want{}, '|'},
		{"a;b|c|d\n", Want{}, '|'},
		{"one\n", Want{}, ','},
		{"", Want{Comma: ';'}, ';'},
		{"id;line\n", Want{Columns: needed, Given: ','}, ','},
		{"a:b\n", Want{Columns: needed, Given: ':'}, ':'},
		{"a;b", Want{Columns: []csv.Column{{Name: "x", Optional: true}}}, ';'},
	} {
		f, err := Open(iotest.OneByteReader(strings.NewReader(c.text)), c.want)
		if err != nil {
			t.Fatal(err)
		}
		if c.is == 0 {
			c.is = ','
		}
		all, err := io.ReadAll(f)
		if f.Comma != c.is || f.Encoding != "" || err != nil || string(all) != c.text {
			t.Errorf("%q: %q, encoding %q, reads %q, %v", c.text, f.Comma, f.Encoding, all, err)
		}
	}
}

func TestC1_UTF16IsRead(t *testing.T) {
	text := "id;line\n1;Zürich, 東京 and 😀\n" + strings.Repeat("2;😀x\n", 9000)
	for name, order := range map[string]binary.AppendByteOrder{"UTF-16LE": binary.LittleEndian, "UTF-16BE": binary.BigEndian} {
		for _, mark := range []string{"\ufeff", ""} {
			data := in16(order, mark+text)
			for i, r := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data)),
				iotest.DataErrReader(bytes.NewReader(data))} {
				f, err := Open(r, Want{})
				if err != nil {
					t.Fatal(err)
				}
				all, err := io.ReadAll(f)
				if err != nil || f.Encoding != name || f.Comma != ';' || string(all) != text || !bytes.HasPrefix(f.Head, []byte("id;line\n")) {
					t.Errorf("%s, reader %d: %q, %q, head %q, %d bytes of %d, %v", name, i, f.Encoding, f.Comma, f.Head, len(all), len(text), err)
				}
			}
			for _, short := range []int{1, 3} {
				f, err := Open(bytes.NewReader(data[:len(data)-short]), Want{})
				if err == nil {
					_, err = io.ReadAll(f)
				}
				if !errors.Is(err, ErrEncoding) || !strings.Contains(err.Error(), "in the middle of a character") {
					t.Errorf("%s without its last %d bytes: %v", name, short, err)
				}
			}
		}
	}
	for _, half := range [][]byte{{0x00, 0xd8, 'a', 0}, {0x00, 0xdc, 'a', 0}, {0x00, 0xd8, 0x00, 0xd8}} {
		f, err := Open(bytes.NewReader(append(in16(binary.LittleEndian, "\ufeffid\n1\n"), half...)), Want{})
		if err != nil {
			t.Fatal(err)
		}
		if all, err := io.ReadAll(f); !errors.Is(err, ErrEncoding) || !strings.Contains(err.Error(), "byte 12 ") || string(all) != "id\n1\n" {
			t.Errorf("%x: %q, %v", half, all, err)
		}
	}
}

// TestOneLineIsEnough: a pipe whose writer writes one line and waits is examined nevertheless.
func TestOneLineIsEnough(t *testing.T) {
	r, w := io.Pipe()
	go func() { _, _ = w.Write([]byte("id;line\n")) }() // read or closed below
	f, err := Open(r, Want{})
	if err != nil || f.Comma != ';' {
		t.Errorf("%+v, %v", f, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestR16_TheFirstLineIsBounded: a file without a line end is not read into memory.
func TestR16_TheFirstLineIsBounded(t *testing.T) {
	r := &endless{}
	f, err := Open(r, Want{})
	if err != nil || r.n > 2*MaxFirstLine || len(f.Head) > 2*MaxFirstLine {
		t.Errorf("%d bytes were read, %v", r.n, err)
	}
}

// endless is a line that never ends.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	n := min(len(p), 1000)
	copy(p, bytes.Repeat([]byte("x"), n))
	e.n += n
	return n, nil
}

// TestOtherForms: what is read of a file that is not CSV with a header.
func TestOtherForms(t *testing.T) {
	comment := csv.Form{LeaveOut: csv.LeaveOut{Comment: '#'}}
	for _, c := range []struct {
		in    string
		form  csv.Form
		want  string
		comma byte
		line  uint64
	}{
		{"\ufeff# a,b,c\n# d\nx;y\n1;2 #\n", comment, "\n\nx;y\n1;2 \n", ';', 1},
		{"Oslo;1.5\nRome;2\n", csv.Form{Headless: true}, "column0;column1\nOslo;1.5\nRome;2\n", ';', 0},
		{"0,1,2,3,4,5,6,7,8,9,10\n", csv.Form{Headless: true},
			"column00,column01,column02,column03,column04,column05,column06,column07,column08,column09,column10\n0,1,2,3,4,5,6,7,8,9,10\n", ',', 0},
		{"made by\n1,2\n", csv.Form{Headless: true, Names: []string{"x", "a,b"}, LeaveOut: csv.LeaveOut{First: 1}}, "x,\"a,b\"\n\n1,2\n", ',', 0},
		{"", csv.Form{Headless: true}, "", ',', 1},
		{"# only\n", csv.Form{Headless: true, LeaveOut: comment.LeaveOut}, "\n", ',', 1},
		{string(in16(binary.LittleEndian, "\ufeff#x\na;b\n")), comment, "\na;b\n", ';', 1},
	} {
		f, err := Open(iotest.HalfReader(strings.NewReader(c.in)), Want{Form: c.form})
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(f)
		if string(all) != c.want || err != nil || f.Comma != c.comma || f.Line != c.line {
			t.Errorf("%q as %+v: %q, %v, separator %q, line %d", c.in, c.form, all, err, f.Comma, f.Line)
		}
	}
	if f, err := Open(&endless{}, Want{Form: comment}); err != nil || len(f.Head) > 2*MaxFirstLine {
		t.Error("the first line is not bounded:", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("a;b\n1;2\n"))
	f.Add(in16(binary.LittleEndian, "\ufeffa;b\n1;😀\n"))
	f.Add(in16(binary.BigEndian, "a;b\n1;2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := Open(iotest.HalfReader(bytes.NewReader(data)), Want{})
		if err != nil {
			return
		}
		all, err := io.ReadAll(in)
		switch {
		case in.Encoding == "" && (err != nil || !bytes.Equal(all, data)):
			t.Errorf("%q is read as %q, %v", data, all, err)
		case in.Encoding != "" && !utf8.Valid(all):
			t.Errorf("%q becomes %q", data, all)
		case in.Encoding != "" && err == nil:
			order := binary.AppendByteOrder(binary.LittleEndian)
			if in.Encoding == "UTF-16BE" {
				order = binary.BigEndian
			}
			if back := in16(order, string(all)); !bytes.Equal(back, data) && !bytes.Equal(back, data[2:]) {
				t.Errorf("%x becomes %q, and that %x", data, all, back)
			}
		}
	})
}
