package jsonl

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"posta.dev/posta/client/source/format"
	"posta.dev/posta/client/source/lines"
	source "posta.dev/posta/client/source/text"
	"posta.dev/posta/rows/csv"
)

func columns(names ...string) (all []csv.Column) {
	for _, n := range names {
		all = append(all, csv.Column{Name: n})
	}
	return all
}

// row is a row that was read back, or the reason why it is rejected.
type row struct {
	line uint64
	text string
}

// rows reads a file as the cluster does: chunk by chunk.
func rows(t testing.TB, r io.Reader, chunkBytes int, want []csv.Column) (all []row, err error) {
	t.Helper()
	c := Lines.NewCutter(r, want, ';', chunkBytes, 1<<20)
	c.LeaveRoom(5)
	header, err := c.Header()
	if err != nil {
		t.Fatal(err)
	}
	h, err := csv.ParseHeader(header, ',')
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.Find(want)
	if err != nil {
		t.Fatal(err)
	}
	var buf []byte
	for {
		chunk, line, err := c.Next(buf)
		if err != nil {
			if _, _, again := c.Next(nil); again != err {
				t.Errorf("the error is not final: %v, %v", err, again)
			}
			if err == io.EOF {
				err = nil
			}
			return all, err
		}
		var s csv.Scanner
		for s.Reset(chunk[5:], ',', m, line); s.Next(); {
			if s.Err() != nil {
				all = append(all, row{s.Line(), s.Err().Error()})
				continue
			}
			all = append(all, row{s.Line(), string(bytes.Join(s.Fields(), []byte("~")))})
		}
		buf = chunk
	}
}

func TestColumnsAreKeysAndPaths(t *testing.T) {
	data := "\ufeff" + `{"id": 1, "a": {"b": [10, {"c": "deep"}]}, "name": "plain", "other": [[]], "a.b": "not the path"}` + "\r\n" +
		"\n" +
		`{"name":"line\nfeed; \"quoted\" \u00e9\ud83d\ude00\/","id":-1.50e+3,"a":{"b":[true]}}` + "\n" +
		"  \t\n" +
		`{"name":null,"id":{"x":[1, 2]},"a":7}` + "\n" +
		`{}` + "\n" +
		`{"name":"","id":"","a":{"b":{"0":1}}}`
	want := []row{
		{1, "1~plain~10~deep"},
		{3, "-1.50e+3~line\nfeed; \"quoted\" é😀/~true~"},
		{5, `{"x":[1, 2]}~~~`},
		{6, "~~~"},
		{7, "~~~"},
	}
	for _, chunkBytes := range []int{1, 30, 1 << 20} {
		for i, r := range []io.Reader{strings.NewReader(data), iotest.OneByteReader(strings.NewReader(data)),
			iotest.DataErrReader(strings.NewReader(data))} {
			got, err := rows(t, r, chunkBytes, columns("id", "name", "a.b[0]", "a.b[1].c"))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("chunks of %d, reader %d: %v\n%+v\nwant\n%+v", chunkBytes, i, err, got, want)
			}
		}
	}
}

// TestLinesMayEndInCarriageReturns: alone, unless they are white space within an object.
func TestLinesMayEndInCarriageReturns(t *testing.T) {
	for data, want := range map[string][]row{
		"{\"n\":1}\r{\"n\":2}\r": {{1, "1"}, {2, "2"}},
		"\ufeff{\"n\":1}\r\r{\"n\":\r\r": {{1, "1"},
			{3, "the line is not a JSON object: character 6: the line ends where a value should be"}},
		"\r \r{\"n\":1} \r{\"n\":2}":                                  {{3, "1"}, {4, "2"}},
		"{\"n\":1}\r\n{\"n\":2}\n{\"n\":3}\r\n":                       {{1, "1"}, {2, "2"}, {3, "3"}},
		"{\r\"n\"\r:1\r}\n{\"n\"\r:2}":                                {{1, "1"}, {2, "2"}},
		"{\"n\":1}\r":                                                 {{1, "1"}},
		"{\"n\":1}\r{\"n\":2}\n":                                      {{1, "1"}, {2, "2"}},
		"{\"n\":\"" + strings.Repeat("x", 300<<10) + "\"}\n{\"n\":2}": {{1, strings.Repeat("x", 300<<10)}, {2, "2"}},
	} {
		for i, r := range []io.Reader{strings.NewReader(data), iotest.HalfReader(strings.NewReader(data)),
			iotest.DataErrReader(strings.NewReader(data))} {
			got, err := rows(t, r, 1<<20, columns("n"))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%.60q, reader %d: %v\n%.200v\nwant\n%.200v", data, i, err, got, want)
			}
		}
		if is, err := looks([]byte(strings.TrimPrefix(data, "\ufeff"))[:min(len(data)-3, 64<<10)]); !is || err != nil {
			t.Errorf("%.60q: it does not look like JSON Lines, %v", data, err)
		}
		in := &format.File{File: &source.File{Reader: strings.NewReader(data)}}
		if c, err := (Format{}).Columns(in, 10); err != nil || !slices.Equal(c.Keys, []string{"n"}) {
			t.Errorf("%.60q: the keys are %q, %v", data, c.Keys, err)
		}
		if again, err := io.ReadAll(in); err != nil || string(again) != data {
			t.Errorf("%.60q: %d bytes are left to be cut, %v", data, len(again), err)
		}
	}
}

// TestKeysKnowCasesApart: a column with a key is found by this alone.
func TestKeysKnowCasesApart(t *testing.T) {
	got, err := rows(t, strings.NewReader(`{"id":1,"ID":2,"":3,"a.b":4,"a":{"b":5}}`), 100,
		[]csv.Column{{Name: "id", Key: "id", Keyed: true}, {Name: "ID_1", Key: "ID", Keyed: true},
			{Name: "column2", Keyed: true}, {Name: "a.b", Key: "a.b", Keyed: true}})
	if err != nil || len(got) != 1 || got[0].text != "1~2~3~4" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestN7_LinesThatAreNoObjectsAreRejectedWhereTheyAre(t *testing.T) {
	data := `{"n":1}
{"n":2
[1]
{"n":"a
{"n":4} {"n":5}
{"n":6,"n":7}
{"n":"\ud800"}
{"n":01}
{"n":tru}
{"n":8,}
` + strings.Repeat(`{"n":`, 600) + "\n" + `{"n":"\x"}
"` + "\n" + `{"n":9}`
	got, err := rows(t, strings.NewReader(data), 1<<20, columns("n"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"1", "comma or '}'", "not a JSON object", "not closed", "something follows", "twice",
		"not a whole character", "begins with 0", "not true",
		"a key in quotes", "nested more than 512", "no escape is", "not a JSON object", "9"} {
		if i >= len(got) || got[i].line != uint64(i+1) || !strings.Contains(got[i].text, want) {
			t.Fatalf("row %d: %+v, want %+v", i, got[min(i, len(got)-1)], want)
		}
	}
	if !strings.Contains(got[1].text, "character 7:") {
		t.Errorf("%+v", got[1])
	}
}

func TestC1_AColumnThatNoLineHasIsAnError(t *testing.T) {
	_, err := rows(t, strings.NewReader("{\"n\":1,\"m\":{\"x\":2}}\n{\"o\":2}\n"), 100, columns("n", "m.y"))
	if !errors.Is(err, lines.ErrColumn) || !strings.Contains(err.Error(), `no line has "m.y"; the first has "n", "m"`) {
		t.Errorf("got %v", err)
	}
	if got, err := rows(t, strings.NewReader("{\"n\":1}"), 100, []csv.Column{{Name: "n"}, {Name: "x", Optional: true}}); err != nil ||
		len(got) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := rows(t, strings.NewReader("\n\n"), 100, columns("n")); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestC1_WhatLooksLikeJSON(t *testing.T) {
	for head, want := range map[string]any{
		"{\"a\":1}\nrest": true, " {}\n": true, "{\"a\":1": true, "{": true, "{\n \"a\": 1\n}": ErrNotLines, "[\n": ErrNotLines,
		"[{\"a\":1}]": ErrNotLines, "[1,2]": ErrNotLines,
		"a,b\n": false, "": false, "{x},b\n": false, "[a],b\n": false, "\n\n{\"a\":\n": ErrNotLines,
	} {
		is, err := looks([]byte(head))
		switch want := want.(type) {
		case bool:
			if is != want || err != nil {
				t.Errorf("%q: %v, %v", head, is, err)
			}
		case error:
			if !errors.Is(err, want) || !strings.Contains(err.Error(), "jq -c") {
				t.Errorf("%q: %v, %v", head, is, err)
			}
		}
	}
}

func TestR16_LongLinesAreRefused(t *testing.T) {
	long := strings.Repeat("x", lines.MaxLine)
	_, err := rows(t, strings.NewReader("{\"n\":1}\n{\"n\":\""+long+"\"}\n"), 100, columns("n"))
	if !errors.Is(err, csv.ErrRecordTooLong) || !strings.Contains(err.Error(), "line 2 ") {
		t.Errorf("a long line: %v", err)
	}
	_, err = rows(t, strings.NewReader("{\"n\":\""+long[:2<<20]+"\"}\n"), 100, columns("n"))
	if !errors.Is(err, csv.ErrRecordTooLong) || !strings.Contains(err.Error(), "line 1 ") {
		t.Errorf("a long record: %v", err)
	}
	got, err := rows(t, strings.NewReader("{\"m\":\""+long[:2<<20]+"\",\"n\":3}\n"), 100, columns("n"))
	if err != nil || len(got) != 1 || got[0].text != "3" {
		t.Errorf("a long line of which little is needed: %.100v, %v", got, err)
	}
	broken := errors.New("cable cut")
	if _, err := rows(t, io.MultiReader(strings.NewReader("{\"n\":1}\n{\"n\""), iotest.ErrReader(broken)), 100,
		columns("n")); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestSpecials compares words with their bytes.
func TestSpecials(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 200_000 {
		var p [8]byte
		for i := range p {
			if p[i] = byte(r.Uint32()); r.IntN(3) > 0 {
				p[i] = "\x1f \"\\!#[]\x80\xa2\xdc\x9f\x00a"[r.IntN(14)]
			}
		}
		want := 8
		for i, c := range slices.Backward(p[:]) {
			if c == '"' || c == '\\' || c < ' ' {
				want = i
			}
		}
		if got := bits.TrailingZeros64(specials(binary.LittleEndian.Uint64(p[:]))) / 8; got != want {
			t.Fatalf("%q: the first is byte %d, not %d", p, want, got)
		}
	}
}

// TestC1_SimpleValuesAreThoseOfTheWholeParser: what is read by words ends where it ends byte by byte, whatever follows the line in memory.
func TestC1_SimpleValuesAreThoseOfTheWholeParser(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 6))
	simples := 0
	for range 400_000 {
		letters := []string{"0123456789", "0123456789.,}-e", "\"\"abcdefghij \\\x1f\t\xff\x80,}é"}[r.IntN(3)]
		memory := make([]byte, r.IntN(40))
		for i := range memory {
			memory[i] = letters[r.IntN(len(letters))]
		}
		if len(memory) > 0 && r.IntN(2) == 0 {
			memory[0] = '"'
		}
		p := memory[:r.IntN(len(memory)+1)]
		if len(p) == 0 {
			continue
		}
		text, end := simple(p, 0)
		if end == 0 {
			continue
		}
		simples++
		want, wantEnd, err := p, 0, error(nil)
		if p[0] == '"' {
			want, wantEnd, err = (&object{p: slices.Clip(p)}).text(0, true)
		} else {
			wantEnd, err = number(slices.Clip(p), 0)
			want = p[:wantEnd]
		}
		if err != nil || end != wantEnd || !bytes.Equal(text, want) {
			t.Fatalf("%q in %q is %q to %d, and %q to %d, %v", p, memory, text, end, want, wantEnd, err)
		}
	}
	if simples < 20_000 {
		t.Errorf("only %d were simple", simples)
	}
}

// TestR16_KeysThatAreDataAreNotAllRemembered, and are found all the same.
func TestR16_KeysThatAreDataAreNotAllRemembered(t *testing.T) {
	o := newObject(columns("n", "9999"))
	for i := range 3 * mostMembers {
		fields, has := make([][]byte, 2), make([]bool, 2)
		line := fmt.Sprintf(`{"%d":1,"%s":2, "n":%d}`, i, strings.Repeat("k", i%(2*longestMember)), i)
		if err := o.Read([]byte(line), fields, has); err != nil || string(fields[0]) != fmt.Sprint(i) || has[1] != (i == 9999) {
			t.Fatalf("%q: %q %v, %v", line, fields, has, err)
		}
	}
	if n := len(o.tree.known); n != mostMembers {
		t.Errorf("%d are remembered", n)
	}
	for text := range o.tree.known {
		if len(text) > longestMember {
			t.Errorf("one of %d bytes is remembered", len(text))
		}
	}
}

// TestC1_LinesDoNotDependOnThoseBefore: keys in other orders, more or fewer of them, blanks, escapes and mistakes.
func TestC1_LinesDoNotDependOnThoseBefore(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	after := newObject(columns("a", "b", "c", "a.b", "d[1]"))
	for range 30_000 {
		var b strings.Builder
		blank := func() string { return []string{"", "", "", "", " ", "\t", "  "}[r.IntN(7)] }
		var value func(depth int) string
		members := func(depth int) string {
			text := "{"
			keys := []string{`"a"`, `"b"`, `"c"`, `"d"`, `"\u0061b"`, `"ab"`, `"e\""`}[:2+r.IntN(6)]
			if r.IntN(3) == 0 {
				r.Shuffle(len(keys), func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
			}
			for i, k := range keys {
				if i > 0 {
					text += blank() + ","
				}
				text += blank() + k + blank() + ":" + blank() + value(depth+1)
			}
			return text + blank() + "}"
		}
		value = func(depth int) string {
			switch r.IntN(9) {
			case 0:
				return "[1," + blank() + "[2]]"
			case 1:
				if depth < 3 {
					return members(depth)
				}
				return "null"
			case 2:
				return `"with \n \ud83d\ude00 escapes"`
			case 3:
				return []string{"true", "12.5", "-0", "1e9"}[r.IntN(4)]
			}
			return `"` + strings.Repeat("é x", r.IntN(9)) + `"`
		}
		b.WriteString(members(0))
		line := []byte(b.String())
		if r.IntN(4) == 0 {
			line = slices.Delete(line, r.IntN(len(line)), len(line))
		}
		if r.IntN(4) == 0 && len(line) > 0 {
			line[r.IntN(len(line))] = "{}[]:,\"\\ \x00a1"[r.IntN(12)]
		}
		alone := newObject(columns("a", "b", "c", "a.b", "d[1]"))
		want, wantHas, got, has := make([][]byte, 5), make([]bool, 5), make([][]byte, 5), make([]bool, 5)
		within := append(slices.Clone(line), `"}, "a": 12}`[r.IntN(13):]...)[:len(line)]
		wantErr, err := alone.Read(slices.Clip(line), want, wantHas), after.Read(within, got, has)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(has, wantHas) || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("%q after others: %q %v, %v; alone: %q %v, %v", line, got, has, err, want, wantHas, wantErr)
		}
	}
}

// FuzzObject compares with encoding/json.
func FuzzObject(f *testing.F) {
	for _, s := range []string{`{"n":1}`, `{"n":"a\nb\u0041","m":[1,2,{"x":null}]}`, `{"n":-0.5e-7,"n2":{"n":1}}`, `{"n":"\ud83d\ude00"} `,
		`{"n":true,"m":false}`, `[]`, `{"n":[}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 || !utf8.Valid(line) {
			return
		}
		o := newObject(columns("n", "m"))
		err := o.Read(line, make([][]byte, 2), make([]bool, 2))
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(line, &want)
		if isObject := bytes.HasPrefix(bytes.TrimLeft(line, " \t\r"), []byte("{")); !isObject {
			wantErr = errNoObject
		}
		switch {
		case err == nil && wantErr != nil:
			t.Fatalf("%q is read, and is none: %v", line, wantErr)
		case err != nil && wantErr == nil:
			if strings.Contains(err.Error(), "twice") || strings.Contains(err.Error(), "not a whole character") ||
				strings.Contains(err.Error(), "nested") {
				return
			}
			t.Fatalf("%q is refused: %v", line, err)
		case err != nil:
			return
		}
		for i, name := range []string{"n", "m"} {
			raw, is := want[name]
			text := string(raw)
			var s string
			switch {
			case text == "null":
				text = ""
			case len(text) > 0 && text[0] == '"':
				if err := json.Unmarshal(raw, &s); err != nil {
					t.Fatal(err)
				}
				text = s
			}
			if o.taken[i] != is || string(o.fields[i]) != text {
				t.Fatalf("%q: %s is %q, %v; want %q, %v", line, name, o.fields[i], o.taken[i], text, is)
			}
		}
	})
}

// FuzzCutter: for any file, each of its lines is one row with that line number, or an error ends the file.
func FuzzCutter(f *testing.F) {
	f.Add([]byte("{\"n\":1}\n\n{\"n\":\"a;\\nb\"}\nrubbish\n"), 3)
	f.Fuzz(func(t *testing.T, data []byte, chunkBytes int) {
		got, err := rows(t, bytes.NewReader(data), chunkBytes%100, columns("n"))
		if err != nil {
			return
		}
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		i := 0
		for n, line := range bytes.Split(data, []byte("\n")) {
			if len(bytes.Trim(line, " \t\r")) == 0 { // the blanks of JSON
				continue
			}
			if i == len(got) || got[i].line != uint64(n+1) {
				t.Fatalf("%q: the row of line %d is missing in %v", data, n+1, got)
			}
			i++
		}
		if i != len(got) {
			t.Fatalf("%q: %d rows too many in %v", data, len(got)-i, got)
		}
	})
}

func BenchmarkCutter(b *testing.B) {
	var data bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&data,
			`{"start_date": "2015-05-05 08:30:00", "start_station_code": "%d", "end_date": "2015-05-05 08:41:00", "duration_sec": %d.0, "is_member": true, "yearid": 2015}`+"\n", i, i)
	}
	b.SetBytes(int64(data.Len()))
	for b.Loop() {
		c := Lines.NewCutter(bytes.NewReader(data.Bytes()), columns("start_date", "start_station_code", "duration_sec", "yearid"), ',', 256<<10,
			1<<20)
		var buf []byte
		for {
			chunk, _, err := c.Next(buf)
			if err == io.EOF {
				break
			}
			buf = chunk
		}
	}
}
