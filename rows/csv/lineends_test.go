package csv

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// A file with carriage returns as line ends gives the same rows and lines as with line feeds.
func TestC1_CarriageReturnsEndLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for range 300 {
		m := randomMapping(rng)
		var with, without []byte
		for range 1 + rng.IntN(200) {
			for i := range 5 {
				field := []string{"", "a", "two words", `"com,ma"`, `"quo""te"`, `"new` + "\n" + `line"`, strings.Repeat("x", 70)}[rng.IntN(7)]
				if i > 0 {
					field = "," + field
				}
				with, without = append(with, field...), append(without, field...)
			}
			with, without = append(with, '\r'), append(without, '\n')
		}
		want := referenceRows(without, ',', m, 1)
		for _, chunkBytes := range []int{1, 1 + rng.IntN(100), 1 << 20} {
			r := io.Reader(bytes.NewReader(append([]byte("header\r"), with...)))
			if rng.IntN(2) == 0 {
				r = iotest.OneByteReader(r)
			}
			c := NewCutter(r, ',', chunkBytes, len(with)+10)
			sameRows(t, with, drain(t, c, without, ',', m, -1), want)
		}
	}
}

// A carriage return in quotes also counts as a line of the file.
func TestC1_LinesAreThoseOfTheFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for range 200 {
		var b []byte
		for range 5 {
			b = append(b, rubbish(rng, rng.IntN(300))...)
			b = append(b, "\n\"a\nb\",1\n"...)
		}
		b = bytes.ReplaceAll(b, []byte{'\r'}, nil)
		m := randomMapping(rng)
		want := referenceRows(b, ',', m, 1)
		returns := bytes.ReplaceAll(b, []byte{'\n'}, []byte{'\r'})
		var lines []uint64
		c := NewCutter(bytes.NewReader(append([]byte("header\r"), returns...)), ',', 1+rng.IntN(200), len(b)+10)
		var s Scanner
		for {
			chunk, line, err := c.Next(nil)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range scanRows(&s, chunk, ',', m, line-1) {
				lines = append(lines, r.line)
			}
		}
		for i := range want {
			if len(lines) != len(want) || lines[i] != want[i].line {
				t.Fatalf("%q:\nrows in lines %v\nwant %v", returns, lines, want)
			}
		}
	}
}

func TestC1_LineEndsOfEveryKind(t *testing.T) {
	for _, c := range []struct{ data, header, chunk string }{
		{"a,b\r1,2\r3,4\r", "a,b", "1,2\n3,4\n"},
		{"a,b\r1,2\r3,4", "a,b", "1,2\n3,4"},
		{"\xef\xbb\xbfa,b\r1,2\r", "a,b", "1,2\n"},
		{"a,b\r1,\"x\ry\"\r3,4\r", "a,b", "1,\"x\ry\"\n"},                       // it is data, and the chunk ends after it
		{"a,\"b\rc\"\n1,x\ry\n", "a,\"b\rc\"", "1,x\ry\n"},                      // the first line end is a line feed
		{"a,b\r\n1,x\ry\r\n", "a,b", "1,x\ry\r\n"},                              // or both
		{"a,b\r1,2\r\n3,4\n5,6\r", "a,b", "1,2\n3,4\n5,6\n"},                    // mixed: nothing is lost
		{"a,b\r1,\"x\"y\r3,4\r", "a,b", "1,\"x\"y\n3,4\n"},                      // garbage after a quote ends with its line
		{"a,b\r" + strings.Repeat("x\r", 3), "a,b", "x\nx\nx\n"},                //
		{strings.Repeat("h", 5000) + "\rx\r", strings.Repeat("h", 5000), "x\n"}, // the header is longer than the first read
	} {
		for _, read := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
			cutter := NewCutter(read(strings.NewReader(c.data)), 0, 100, 10_000)
			chunk, line, err := cutter.Next(nil)
			header, _ := cutter.Header()
			if string(header) != c.header || string(chunk) != c.chunk || line != 2 || err != nil {
				t.Errorf("%.40q: header %.40q, chunk %q in line %d, %v", c.data, header, chunk, line, err)
			}
		}
	}
}

// A client that cuts by itself may send carriage returns that Cutter would have turned.
func TestC1_ParseHeaderRefusesCarriageReturns(t *testing.T) {
	if _, err := ParseHeader([]byte("a,b\r1,2\r3,4"), ','); !errors.Is(err, ErrHeader) || !strings.Contains(err.Error(), "carriage return") {
		t.Errorf("got %v", err)
	}
	if _, err := ParseHeader([]byte("a,\"b\rc\"\r\n"), ','); err != nil {
		t.Errorf("in quotes it is data: %v", err)
	}
}

func TestC1_EncodingsAreNamed(t *testing.T) {
	const text = "start_date,duration\n2020-01-01,5\n"
	wide := func(order int, mark bool) string {
		var b []byte
		units := utf16.Encode([]rune(text))
		if mark {
			units = append([]uint16{0xfeff}, units...)
		}
		for _, u := range units {
			pair := []byte{byte(u), byte(u >> 8)}
			b = append(b, pair[order], pair[1-order])
		}
		return string(b)
	}
	for data, want := range map[string]string{
		wide(0, true): "UTF-16", wide(1, true): "UTF-16", wide(0, false): "iconv -f UTF-16LE", wide(1, false): "iconv -f UTF-16BE",
		"\xff\xfe\x00\x00a\x00\x00\x00": "UTF-32", "PAR1\x15\x04\x00\x00\x15": "text file", "": "empty", "\xef\xbb\xbf": "empty",
	} {
		_, err := NewCutter(strings.NewReader(data), ',', 100, 100).Header()
		if !errors.Is(err, ErrHeader) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v; want %s", data, err, want)
		}
	}
	if _, err := NewCutter(strings.NewReader("\xef\xbb\xbf"+text), ',', 100, 100).Header(); err != nil {
		t.Errorf("UTF-8 with a byte order mark: %v", err)
	}
}

func TestC1_AnotherSeparatorIsNamed(t *testing.T) {
	for header, want := range map[string]string{"id;line": "separated by semicolons", "id\tline": "separated by tabs",
		"id|line": "separated by vertical bars", "other": `has "other"`} {
		h, err := ParseHeader([]byte(header), ',')
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Find([]Column{{Name: "id"}}); !errors.Is(err, ErrHeader) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", header, err)
		}
	}
}

// A file that begins with line feeds and continues with carriage returns used to become one row, silently. Carriage returns within fields
// are no line ends, and neither is one at the end of the file.
func TestC1_MixedLineEndsAreAnError(t *testing.T) {
	for text, line := range map[string]string{
		"a,b\n1,2\r3,4\r5,6\r":                  "line 2",
		"a,b\n1,2\n3,\"4\n4\"\n5,6\r7,8\n":      "line 5",
		"a,b\n\"x,\ry\",2\r3,4\n":               "line 2",
		"a,b\r\n1,2\r\n3,4\r5,6\r\n":            "line 3",
		"a,b\n1,2\r":                            "",
		"a,b\n1,2\r\n3,4\r\n":                   "",
		"a,b\n1,two\rwords\n3,4\n":              "",
		"a,b\ntwo\rwords,2\n3,4\n":              "",
		"a,b\n\"two\rwords\",\"1\r2,3\"\n3,4\n": "",
		"a,b\r1,2\r3,4\r":                       "",
		"\"a,c\",b\n1,\"2\"\r3,4\n":             "line 2",
	} {
		for _, chunk := range []int{1, 1 << 20} {
			c := NewCutter(strings.NewReader(text), ',', chunk, 1<<20)
			var err error
			for err == nil {
				_, _, err = c.Next(nil)
			}
			switch {
			case line == "" && err != io.EOF:
				t.Errorf("%q: %v", text, err)
			case line != "" && (!errors.Is(err, ErrLineEnds) || !strings.Contains(err.Error(), line+" ends in a carriage return")):
				t.Errorf("%q in chunks of %d: %v, want %s", text, chunk, err, line)
			}
		}
	}
}
