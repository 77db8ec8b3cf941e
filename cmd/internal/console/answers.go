package console

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/chart"
	"posta.dev/posta/protocol"
)

// Room bounds the part of an answer that a page shows.
type Room struct {
	Tables int
	Kept   int // rows of each query that its chart may show
	Rows   int // of each table; at most Kept
	Cells  int // of a row
	Runes  int // of a cell; at most longestText
	Bytes  int // of all cells together
}

// KeptRows is how many rows of each query are kept for a page of the console: those of the table, and those that its chart shows.
const KeptRows = 500

// pageRoom is the room on a page of the console.
var pageRoom = Room{Tables: 24, Kept: KeptRows, Rows: 200, Cells: 60, Runes: 200, Bytes: 70 << 10}

// answerPage is an answer as a page shows it.
type answerPage struct {
	Tables   []answerTable
	More     int // tables for which the page has no room
	Rejected []string
	Warnings []string
}

type answerTable struct {
	Name, Rows string
	Chart      template.HTML
	Kind       chart.Kind
	Columns    []answerColumn
	Cells      [][]answerCell
	Cut        string // says what is left out
}

type answerColumn struct {
	Name  string
	Right bool
}

type answerCell struct {
	Text        string
	Right, Null bool
}

// pageOf cuts an answer to the given room. rest says where the whole answer is.
func pageOf(a *client.Answer, room Room, rest string) (*answerPage, error) {
	p := &answerPage{}
	for i := range a.Queries {
		if len(p.Tables) == room.Tables || room.Bytes <= 0 {
			p.More = len(a.Queries) - i
			break
		}
		t, used, err := tableOf(&a.Queries[i], room, rest)
		if err != nil {
			return nil, err
		}
		room.Bytes -= used
		p.Tables = append(p.Tables, t)
	}
	for _, r := range a.Rejected {
		if r.Rows == 0 {
			continue
		}
		text := fmt.Sprintf("%s: %s rejected", clean(r.Stream), units.Plural(int(r.Rows), "row"))
		if len(r.First) > 0 {
			text += fmt.Sprintf("; the first is line %d of %s: %s", r.First[0].Line, clean(r.First[0].File), clean(r.First[0].Reason))
		}
		p.Rejected = append(p.Rejected, text)
	}
	for i, w := range a.Warnings {
		if i == notesKept {
			p.Warnings = append(p.Warnings, fmt.Sprintf("and %d more", len(a.Warnings)-i))
			break
		}
		p.Warnings = append(p.Warnings, clean(w.String()))
	}
	return p, nil
}

func tableOf(q *client.Table, room Room, rest string) (t answerTable, used int, err error) {
	t.Name, t.Rows = clean(q.Name), units.Plural(q.Len(), "row")
	shown, short := min(len(q.Columns), room.Cells), 0
	for _, c := range q.Columns[:shown] {
		t.Columns = append(t.Columns, answerColumn{Name: clip(clean(c), room.Runes)})
		used += len(t.Columns[len(t.Columns)-1].Name) + 40
	}
	var kept [][]protocol.Value
	for row := range q.All() {
		if len(kept) == room.Kept {
			break
		}
		row = slices.Clone(row)
		for i := range row { // cut before it is escaped, because a text may have megabytes
			row[i].Text = row[i].Text[:min(len(row[i].Text), 4*longestText)]
		}
		kept = append(kept, row)
		if len(t.Cells) == room.Rows || used >= room.Bytes {
			continue
		}
		cells := make([]answerCell, shown)
		for i, v := range row[:shown] {
			whole := clean(v.String())
			text := clip(whole, room.Runes)
			if text != whole {
				short++
			}
			cells[i] = answerCell{text, v.Kind == protocol.Int || v.Kind == protocol.Float, v.Kind == protocol.Null}
			t.Columns[i].Right = t.Columns[i].Right || cells[i].Right
			used += len(cells[i].Text) + 9 // 9 bytes of markup
		}
		t.Cells = append(t.Cells, cells)
	}
	if err := q.Err(); err != nil {
		return t, used, err
	}
	var cut []string
	if len(t.Cells) < q.Len() {
		cut = append(cut, fmt.Sprintf("the first %s of %s rows", units.Count(uint64(len(t.Cells))), units.Count(uint64(q.Len()))))
	}
	if shown < len(q.Columns) {
		cut = append(cut, fmt.Sprintf("the first %d of %d columns", shown, len(q.Columns)))
	}
	if short > 0 {
		cut = append(cut, fmt.Sprintf("the first %d characters of %s", room.Runes, units.Plural(short, "long value")))
	}
	if cut != nil {
		t.Cut = "This page shows " + strings.Join(cut, " and ") + ". " + rest
	}
	if c, ok := chart.Of(q.Columns, kept, q.Len()); ok {
		t.Kind, t.Chart = c.Kind, c.SVG()
	}
	return t, used, nil
}

// DrawAnswer returns the HTML of an answer: tables and charts, for a page that has Style. rest says where the whole answer is.
func DrawAnswer(a *client.Answer, room Room, rest string) (template.HTML, error) {
	p, err := pageOf(a, room, rest)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, "tables", p); err != nil {
		return "", fmt.Errorf("draw the answers: %w", err)
	}
	return template.HTML(b.String()), nil //nolint:gosec // made by html/template
}
