package csv

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

func leftOut(t *testing.T, o LeaveOut, r io.Reader, comma byte) string {
	t.Helper()
	in, err := o.Reader(r, comma)
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// The cases with comments are as DuckDB reads them, except that a line that is left out stays as an empty line.
func TestWhatIsLeftOut(t *testing.T) {
	hash := LeaveOut{Comment: '#'}
	for _, c := range []struct {
		of       LeaveOut
		in, want string
	}{
		{hash, "# first\n# \"x, y\na,b\n1,2\n# it\"s\n3,4 # tail\n\"5#\",\"6\"#z\n  # blank\n7,8\n",
			"\n\na,b\n1,2\n\n3,4 \n\"5#\",\"6\"\n\n7,8\n"},
		{hash, "a\n#", "a\n"},
		{hash, "a\n  ", "a\n  "},
		{hash, "a\n  \n  b\n", "a\n  \n  b\n"},
		{hash, "#\r\na,\"#\r\n#\"\"#\"\r\n1#\r\n", "\r\na,\"#\r\n#\"\"#\"\r\n1\n"},
		{hash, "#x\ra#y\r\"\r#\"#z\rb", "\ra\r\"\r#\"\rb"}, // lines end in carriage returns
		{hash, "a\n\"b\"c#d\n#e\n", "a\n\"b\"c#d\n\n"},     // text after a quote: the record is malformed up to its end
		{hash, " \"#\"\n", " \"\n"},                        // the quote is not the first byte of its field
		{LeaveOut{First: 2}, "x\ny \"z\na,b\n", "\n\na,b\n"},
		{LeaveOut{First: 2}, "x", ""},
		{LeaveOut{First: 1}, "x\ry\r", "\ry\r"},
		{LeaveOut{First: 1, Comment: ';'}, "x\r\n;\r\n1;2", "\r\n\n1"},
		{LeaveOut{}, "a # b\n\"", "a # b\n\""},
	} {
		if got := leftOut(t, c.of, strings.NewReader(c.in), ','); got != c.want {
			t.Errorf("%+v of %q: %q, want %q", c.of, c.in, got, c.want)
		}
		if got := leftOut(t, c.of, iotest.OneByteReader(strings.NewReader(c.in)), ','); got != c.want {
			t.Errorf("%+v of %q, byte by byte: %q, want %q", c.of, c.in, got, c.want)
		}
	}
	if long := strings.Repeat(" ", 5*mostBlanks); leftOut(t, hash, strings.NewReader(long+"#x\n"), ',') != long+"\n" {
		t.Error("blanks before a comment are lost")
	}
	if _, err := hash.Reader(nil, '"'); err == nil {
		t.Error("a quote separates columns")
	}
}

// What stands in a comment does not change other records, and their lines stay the same.
func TestCommentsChangeNoRecord(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func(of string, n int) (s string) {
		for range r.IntN(n) {
			s += of[r.IntN(len(of)):][:1]
		}
		return s
	}
	for range 4_000 {
		var plain, with strings.Builder
		for range 1 + r.IntN(4) {
			record := []string{"a,b", "1,", "\"x\n#\",y", "\"\"\"#\"", ",", "z\" #"[:2]}[r.IntN(6)]
			plain.WriteString(record + "\n")
			with.WriteString(record)
			if r.IntN(2) == 0 {
				with.WriteString("#" + some("\",#x ", 6))
			}
			with.WriteString("\n")
			if r.IntN(3) == 0 {
				plain.WriteString("\n")
				with.WriteString(some(" ", 3) + "#" + some("\",#x ", 6) + "\n")
			}
		}
		if got := leftOut(t, LeaveOut{Comment: '#'}, iotest.HalfReader(strings.NewReader(with.String())), ','); got != plain.String() {
			t.Fatalf("%q: %q, want %q", with.String(), got, plain.String())
		}
	}
}

func TestCount(t *testing.T) {
	for in, want := range map[string]int{"": 0, "\n\r\n": 0, "a": 1, "\na,b\nc": 2, "\"a,\nb\",,c": 3, "a,": 2, "\"a": 1} {
		if got := Count([]byte(in), 0); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}

func FuzzLeaveOut(f *testing.F) {
	f.Add([]byte("a#b\n\"c\n#\"#\n"), 1)
	f.Fuzz(func(t *testing.T, data []byte, first int) {
		o := LeaveOut{First: max(first, 0), Comment: '#'}
		whole := leftOut(t, o, bytes.NewReader(data), ',')
		if pieces := leftOut(t, o, iotest.OneByteReader(bytes.NewReader(data)), ','); pieces != whole {
			t.Errorf("%q: %q, and byte by byte %q", data, whole, pieces)
		}
		if strings.Count(whole, "\n") != bytes.Count(data, []byte{'\n'}) && !bytes.ContainsRune(data, '\r') {
			t.Errorf("%q: %q has another number of lines", data, whole)
		}
	})
}
