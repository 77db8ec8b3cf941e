package lastlog

import (
	"fmt"
	"time"

	"posta.dev/posta/internal/wire"
)

const (
	lineFields = 3
	maxReport  = 256 << 10 // bytes
	maxAge     = 100 * 365 * 24 * time.Hour
)

// Append appends the wire form of lines: an array of arrays of age in milliseconds, level, and text. It is by hand, because Decode may get
// it from a stranger; see trace.Report.Append.
func Append(b []byte, lines []Line) []byte {
	b = wire.AppendArray(b, len(lines))
	for _, l := range lines {
		b = wire.AppendUint(wire.AppendArray(b, lineFields), uint64(max(0, l.Age.Milliseconds())))
		b = wire.AppendString(wire.AppendString(b, l.Level), l.Text)
	}
	return b
}

// Decode reads the wire form. It refuses more than a node sends.
func Decode(p []byte) (lines []Line, err error) {
	if len(p) > maxReport {
		return nil, fmt.Errorf("the last lines of a log with %d bytes; at most %d are read", len(p), maxReport)
	}
	d := wire.NewReader(p)
	n := d.Array()
	if n > MaxLines {
		return nil, fmt.Errorf("%d lines of a log; at most %d are read", n, MaxLines)
	}
	for ; n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(lineFields)
		age := min(d.Uint(), uint64(maxAge.Milliseconds()))
		lines = append(lines, Line{Age: time.Duration(age) * time.Millisecond, Level: d.String(), Text: d.String()})
	}
	if err := d.Done(); err != nil {
		return nil, fmt.Errorf("the last lines of a log: %w", err)
	}
	return lines, nil
}
