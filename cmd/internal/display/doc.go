// Package display is what people see: tables, bars, sizes and times as text.
//
//	Table      rows with aligned columns
//	Redraw     lines of a terminal that are drawn over and over
//	Progress   how far an upload is: bars that redraw themselves on a terminal, a plain line now and then elsewhere
//	Escape     text from files and networks, made safe for a terminal
//
// The functions that make text are pure; Progress gets the time from its caller. What it never does: colours, cursor movements except up
// over its own lines, or writing to standard output, which is reserved for results.
package display
