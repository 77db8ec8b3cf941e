package csv

import (
	"fmt"
	"strconv"
)

// Fault is a kind of fault of a row.
type Fault uint8

const (
	OtherFields    Fault = iota + 1 // it has more fields than the header, or fewer
	TextAfterQuote                  // a closing quote is followed by something other than a separator or a line end
	UnclosedQuote                   // a quoted field continues to the end of the file
	RowsInQuotes                    // a quoted field holds many lines that most likely are rows, see rowsWithin
)

func faultOf(e ending) Fault {
	if e == unclosed {
		return UnclosedQuote
	}
	return TextAfterQuote
}

// RowError is the reason why a row cannot be used.
type RowError struct {
	Fault    Fault
	Field    int    // the field with the fault, counted from 1; for OtherFields, how many fields the row has
	Need     int    // for OtherFields: how many columns the header has
	OpenLine uint64 // for other faults: the line of the opening quote
	Lines    int    // how many lines the row has; for RowsInQuotes, how many the field has. All of them are lost with the row
	Closed   bool   // for RowsInQuotes: the field is closed as it should be
}

// CauseStrayQuote is the cause of a session that failed because a quote has swallowed rows.
const CauseStrayQuote = "stray_quote"

// Fields says for programs that a stray quote has swallowed rows; see protocol.Fields. Other faults concern one row alone.
func (e *RowError) Fields() map[string]string {
	if e.Fault != RowsInQuotes {
		return nil
	}
	return map[string]string{"cause": CauseStrayQuote, "text": e.Error(), "closed": strconv.FormatBool(e.Closed)}
}

func (e *RowError) Error() string {
	switch e.Fault {
	case OtherFields:
		hint := ""
		if e.Field > e.Need {
			hint = "; a field that holds the separator has to stand in quotes"
		}
		return fmt.Sprintf("row has %d field%s, and the header has %d%s%s", e.Field, plural(e.Field), e.Need, hint, e.lost())
	case UnclosedQuote:
		return fmt.Sprintf("the quote that opens field %d in line %d is never closed%s", e.Field, e.OpenLine, e.lost())
	case RowsInQuotes:
		how := "is never closed, or there is text after its closing quote"
		if e.Closed {
			how = "is closed much later"
		}
		// The line stands in front, as the place of the mistake.
		return fmt.Sprintf("the quote that opens field %d %s, and most likely the field's %d lines are rows: "+
			"remove the quote, or put the field in quotes and write the quote twice", e.Field, how, e.Lines)
	default:
		return fmt.Sprintf(
			"there is text after the closing quote of field %d, which opens in line %d; write a quote inside a quoted field twice%s",
			e.Field, e.OpenLine, e.lost())
	}
}

// lost says how many lines are lost with the row.
func (e *RowError) lost() string {
	if e.Lines < 2 {
		return ""
	}
	return fmt.Sprintf(" (the row has %d lines)", e.Lines)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
