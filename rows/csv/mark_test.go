package csv

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func scanMarked(t *testing.T, header []byte, comma byte, data string, columns ...string) (rows []string, lines []uint64, errs []error) {
	t.Helper()
	h, err := ParseHeader(header, comma)
	if err != nil {
		t.Fatal(err)
	}
	var wanted []Column
	for _, c := range columns {
		wanted = append(wanted, Column{Name: c})
	}
	m, err := h.Find(wanted)
	if err != nil {
		t.Fatal(err)
	}
	var s Scanner
	for s.Reset([]byte(data), comma, m, 7); s.Next(); {
		lines, errs = append(lines, s.Line()), append(errs, s.Err())
		var row []string
		for _, f := range s.Fields() {
			row = append(row, string(f))
		}
		rows = append(rows, strings.Join(row, "~"))
	}
	return rows, lines, errs
}

func TestAMarkSaysTheSeparator(t *testing.T) {
	rows, lines, _ := scanMarked(t, Marked([]byte("a;b"), ';', false), ',', "1;\"2\n,\"\n\n3;4\n", "b", "a")
	if !slices.Equal(rows, []string{"2\n,~1", "4~3"}) || !slices.Equal(lines, []uint64{7, 10}) {
		t.Errorf("%q in lines %v", rows, lines)
	}
}

func TestAMarkSaysThatEmptyLinesAreNoRows(t *testing.T) {
	for _, c := range []struct {
		header []byte
		lines  []uint64
	}{{MarkedForm([]byte("a"), ',', &Form{LeaveOut: LeaveOut{First: 1}}), []uint64{8, 10}},
		{Marked([]byte("a"), ',', false), []uint64{7, 8, 9, 10}}} {
		if _, lines, _ := scanMarked(t, c.header, ';', "\n1\n\r\n2\n", "a"); !slices.Equal(lines, c.lines) {
			t.Errorf("%q: rows in lines %v", c.header, lines)
		}
	}
}

// TestAMarkSaysThatTextsHaveManyLines: with it a closed quote is right, whatever it holds; one that is never closed is wrong as ever.
func TestAMarkSaysThatTextsHaveManyLines(t *testing.T) {
	many := strings.Repeat("4,5\n", 20)
	for _, left := range []int{0, 1} {
		for _, multiline := range []bool{false, true} {
			header := MarkedForm([]byte("a,b"), ',', &Form{LeaveOut: LeaveOut{First: left}, Multiline: multiline})
			rows, _, errs := scanMarked(t, header, ';', "1,\"3\n"+many+"4,\"\n6,7\n", "b")
			if want := []string{"3\n" + many + "4,", "7"}; (errs[0] == nil) != multiline || multiline && !slices.Equal(rows, want) {
				t.Errorf("%q: %q, %v", header, rows, errs)
			}
			if _, _, errs = scanMarked(t, header, ';', "1,\"3\n"+many, "b"); errs[0] == nil ||
				!strings.Contains(errs[0].Error(), "never closed, or") {
				t.Errorf("%q, never closed: %v", header, errs)
			}
		}
	}
}

func TestN7_AMarkSaysWhatLinesAre(t *testing.T) {
	data := "1,\"2\n\n\"\n\n3,4\n" + string(Unreadable("the \"line\"\nis, no")) + "\"x\"y,\"\n\"\n5,6"
	for range 2 { // rows in the index, then rows that are walked
		rows, lines, errs := scanMarked(t, Marked([]byte("a,b"), 0, true), ';', data, "a", "b")
		if !slices.Equal(lines, []uint64{7, 9, 10, 11, 12, 13}[:len(lines)]) || rows[0] != "1~2\n\n" || rows[1] != "3~4" || errs[0] != nil ||
			errs[1] != nil {
			t.Fatalf("%q in lines %v, %v", rows, lines, errs)
		}
		var unreadable *UnreadableError
		if !errors.As(errs[2], &unreadable) || unreadable.Error() != "the 'line' is, no" {
			t.Errorf("%v", errs[2])
		}
		var broken *RowError
		if !errors.As(errs[3], &broken) || broken.OpenLine != 11 {
			t.Errorf("%v", errs[3])
		}
		data = strings.Replace(data, "5,6", "5,"+strings.Repeat("x", 20<<10), 1)
	}
}

func TestMarksThatAreNone(t *testing.T) {
	for _, header := range []string{"\x1e", "\x1e,", "\x1e,xa", "\x1e\"la", "\x1e\nla", "\x1e\x00la", "\x1e\xffla"} {
		if _, err := ParseHeader([]byte(header), ','); !errors.Is(err, ErrHeader) || !strings.Contains(err.Error(), "mark") {
			t.Errorf("%q: %v", header, err)
		}
	}
	if _, err := NewCutter(strings.NewReader("\x1e;la;b\n1;2\n"), ',', 100, 100).Header(); !errors.Is(err, ErrHeader) {
		t.Errorf("a file that begins with a mark: %v", err)
	}
}

// FuzzAppendRecord: any fields are read back unchanged, from one record.
func FuzzAppendRecord(f *testing.F) {
	f.Add("a", "b", byte(','))
	f.Add("", "", byte(';'))
	f.Add("\x1e", "\"\n\r,", byte(','))
	f.Fuzz(func(t *testing.T, a, b string, comma byte) {
		if comma != ',' && comma != '\t' && comma != '|' {
			comma = ';'
		}
		for _, want := range [][]string{{a}, {a, b}, {"", a, b, ""}} {
			var fields [][]byte
			var names []string
			for i, w := range want {
				fields = append(fields, []byte(w))
				names = append(names, string(rune('p'+i)))
			}
			record := append(AppendRecord(nil, fields, comma), '\n')
			header := Marked([]byte(strings.Join(names, string(comma))), comma, true)
			rows, lines, errs := scanMarked(t, header, ',', string(record)+string(record), names...)
			if len(rows) != 2 || rows[0] != strings.Join(want, "~") || rows[1] != rows[0] || errs[0] != nil || errs[1] != nil || lines[1] != 8 {
				t.Errorf("%q becomes %q, and that %q in lines %v, %v", want, record, rows, lines, errs)
			}
		}
	})
}

func TestAMarkSaysThatChunksHoldColumns(t *testing.T) {
	h, err := ParseHeader(MarkedColumnar([]byte("a|b"), '|', MaxExponent), ',')
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.Find([]Column{{Name: "b"}, {Name: "c", Optional: true}})
	if err != nil || !m.Columnar() || m.Separator() != '|' || m.Columns() != 2 || !slices.Equal(m.Sources(), []int{1, -1}) {
		t.Errorf("%+v, %v", m, err)
	}
	for _, header := range []string{"\x1e|c", "\x1e|cza|b", "\x1e|c\x00a|b", "\x1e|dsa|b"} {
		if _, err := ParseHeader([]byte(header), ','); !errors.Is(err, ErrHeader) || !strings.Contains(err.Error(), "0x1e") {
			t.Errorf("%q: %v", header, err)
		}
	}
}

// TestAppendField compares with what is plain to see, byte by byte, and looks that nothing beside the field is written.
func TestAppendField(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 7))
	for range 200_000 {
		comma := ",;\t|"[r.IntN(4)]
		text := make([]byte, r.IntN(30))
		for i := range text {
			if text[i] = 'a' + byte(r.IntN(26)); r.IntN(20) == 0 {
				text[i] = "\"\n\r,;\t|\x1e\x00\xff!#\x0b\x8a\xa2\xac"[r.IntN(16)]
			}
		}
		want := "x" + string(text)
		if len(text) == 0 || text[0] == markByte || bytes.ContainsAny(text, "\"\n\r"+string(comma)) {
			want = `x"` + strings.ReplaceAll(string(text), `"`, `""`) + `"`
		}
		room := append(make([]byte, 0, 1+r.IntN(80)), 'x')
		for i := range room[:cap(room)] {
			room[:cap(room)][i] = 'x'
		}
		got := AppendField(room, text, comma)
		if string(got) != want {
			t.Fatalf("%q becomes %q, want %q", text, got, want)
		}
		if behind := room[:cap(room)]; len(want) < len(behind) && strings.Trim(string(behind[len(want):]), "x") != "" {
			t.Fatalf("%q: behind the field is %q", text, behind[len(want):])
		}
	}
	if got := AppendField(nil, nil, ','); len(got) != 0 {
		t.Errorf("nil becomes %q", got)
	}
}
