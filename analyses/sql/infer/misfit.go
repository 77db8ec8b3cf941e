package infer

import (
	"bytes"
	"errors"

	"posta.dev/posta/rows/csv"
)

// Misfit says that most rows of a sample have another number of fields than their header.
type Misfit struct {
	Have, Need int    // fields of these rows, and of the header
	Line       uint64 // the line of the first row that has so many
	Comma      byte   // what separates the fields of these rows, if that is not what was looked for; else 0
}

// mostJudged is how many rows of a sample are looked at.
const mostJudged = 1000

// FindMisfit returns what is wrong with the header of a sample that begins in the given line; nil if at least half of the rows fit, or if
// there are fewer than two.
func FindMisfit(header, sample []byte, line uint64) *Misfit {
	h, err := csv.ParseHeader(header, 0)
	if err != nil {
		return nil
	}
	m, err := h.Find(nil)
	if err != nil || m.Columnar() {
		return nil
	}
	var fields counts
	var s csv.Scanner
	for s.Reset(sample, 0, m, line); fields.rows < mostJudged && s.Next(); {
		e := (*csv.RowError)(nil)
		switch {
		case errors.As(s.Err(), &e) && e.Fault == csv.OtherFields:
			fields.add(e.Field, s.Line())
		case len(s.Row()) > 0: // a blank line says nothing
			fields.add(h.Columns(), s.Line())
		}
	}
	if n, first := fields.most(); n != h.Columns() && n > 0 {
		return &Misfit{Have: n, Need: h.Columns(), Line: first}
	}
	if h.Columns() > 1 {
		return nil
	}
	for _, comma := range []byte(";\t|,") { // a title does not show what separates the columns below it
		fields = counts{}
		for at, rest := line, sample; len(rest) > 0 && fields.rows < mostJudged; at++ {
			row, behind, _ := bytes.Cut(rest, []byte{'\n'})
			if n := csv.Count(row, comma); n > 0 {
				fields.add(n, at)
			}
			rest = behind
		}
		if n, first := fields.most(); n > 1 {
			return &Misfit{Have: n, Need: 1, Line: first, Comma: comma}
		}
	}
	return nil
}

// counts counts rows by their number of fields.
type counts struct {
	rows int
	with map[int]int    // how many rows have so many fields
	line map[int]uint64 // the line of the first of them
}

func (c *counts) add(fields int, line uint64) {
	if c.rows++; c.with == nil {
		c.with, c.line = map[int]int{}, map[int]uint64{}
	}
	if c.with[fields]++; c.with[fields] == 1 {
		c.line[fields] = line
	}
}

// most returns the number of fields that more than half of the rows have, and the line of the first of these; 0 if there is none, or fewer
// than two rows.
func (c *counts) most() (fields int, line uint64) {
	for n, rows := range c.with {
		if rows > 1 && 2*rows > c.rows {
			return n, c.line[n]
		}
	}
	return 0, 0
}
