// Package csvfile is the format CSV: what is no other format is CSV, and columns are named by the header.
package csvfile

import (
	"posta.dev/posta/client/source/format"
	"posta.dev/posta/rows/csv"
)

// Format implements format.Format.
type Format struct{}

func (Format) Name() string                                      { return "CSV" }
func (Format) Endings() []string                                 { return nil }
func (Format) Anywhere() bool                                    { return false }
func (Format) Detect(*format.File) (bool, error)                 { return true, nil }
func (Format) Columns(*format.File, int) (format.Columns, error) { return format.Columns{}, nil }

// cutter marks the header if the file differs from the usual form of the stream's files.
type cutter struct {
	*csv.Cutter
	want  *format.Want
	comma byte // of the file
}

func (Format) Cut(in *format.File, want *format.Want) (format.Cutter, error) {
	cut := csv.NewCutter(in, in.Comma, want.ChunkBytes, want.MaxRecord)
	cut.StartAt(in.Line)
	cut.LeaveRoom(want.Room)
	return &cutter{cut, want, in.Comma}, nil
}

// Header implements format.Cutter.
func (c *cutter) Header() ([]byte, error) {
	header, err := c.Cutter.Header()
	if err != nil {
		return nil, err
	}
	own := c.want.Comma
	if own == 0 {
		own = ','
	}
	form := &c.want.Form
	if c.comma != own {
		c.want.Note("columns are separated by " + csv.SeparatorName(c.comma))
	}
	if c.comma != own || form.LeaveOut != (csv.LeaveOut{}) || form.Multiline {
		header = csv.MarkedForm(header, c.comma, form)
	}
	return header, nil
}
