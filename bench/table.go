package bench

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// Print writes a section as a table: a line for each case, a column for each figure, cells as median (least–most).
func (s *Section) Print(w io.Writer) error {
	fmt.Fprintf(w, "\n%s: %s\n", s.Name, s.About)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for i := range s.Cases {
		c := &s.Cases[i]
		if i == 0 || !sameColumns(c, &s.Cases[i-1]) {
			fmt.Fprint(t, "case")
			for _, f := range c.Figures {
				fmt.Fprintf(t, "\t%s", f.Title())
			}
			fmt.Fprintln(t)
		}
		fmt.Fprint(t, c.Name)
		for _, f := range c.Figures {
			fmt.Fprintf(t, "\t%s", f.Cell())
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, x := range s.Skipped {
		fmt.Fprintf(w, "skipped: %s: %s\n", x.Name, x.Why)
	}
	return nil
}

func sameColumns(a, b *Case) bool {
	if len(a.Figures) != len(b.Figures) {
		return false
	}
	for i := range a.Figures {
		if a.Figures[i].Title() != b.Figures[i].Title() {
			return false
		}
	}
	return true
}

// Title returns the name of a figure with its unit.
func (f Figure) Title() string {
	if f.Unit == "" {
		return f.Name
	}
	return f.Name + " " + f.Unit
}

// Cell returns a figure as a table shows it.
func (f Figure) Cell() string {
	if f.Min == f.Max {
		return number(f.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", number(f.Median), number(f.Min), number(f.Max))
}

// number formats a value with three significant digits.
func number(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 100 || a == 0:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
