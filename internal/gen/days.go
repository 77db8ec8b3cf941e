package gen

import (
	"sync"
	"time"
)

// calendar holds the days of some years as text.
type calendar struct {
	first time.Time
	text  []byte // 10 bytes per day
}

func newCalendar(from, to int) *calendar {
	c := &calendar{first: time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC)}
	for d := c.first; d.Year() <= to; d = d.AddDate(0, 0, 1) {
		c.text = d.AppendFormat(c.text, time.DateOnly)
	}
	return c
}

func (c *calendar) days() int         { return len(c.text) / 10 }
func (c *calendar) day(n int) []byte  { return c.text[10*n : 10*n+10] }
func (c *calendar) year(n int) []byte { return c.text[10*n : 10*n+4] }
func (c *calendar) start(year int) int {
	return int(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Sub(c.first).Hours() / 24)
}

// clock holds the minutes of a day as "HH:MM", 5 bytes each.
var clock = sync.OnceValue(func() []byte {
	var b []byte
	for m := range 24 * 60 {
		b = append(b, '0'+byte(m/600), '0'+byte(m/60%10), ':', '0'+byte(m%60/10), '0'+byte(m%10))
	}
	return b
})

func appendTime(b []byte, c *calendar, day, second int) []byte {
	m := second / 60
	b = append(append(b, c.day(day)...), ' ')
	b = append(b, clock()[5*m:5*m+5]...)
	s := second % 60
	return append(b, ':', '0'+byte(s/10), '0'+byte(s%10))
}
