package chart

import (
	"math"
	"slices"
	"time"

	"posta.dev/posta/protocol"
)

// kind is the type of a column's values, apart from NULL.
type kind uint8

const (
	empty kind = iota
	number
	date
	text
)

func kindOf(rows [][]protocol.Value, column int) kind {
	k := empty
	for _, row := range rows {
		now := text
		switch v := row[column]; {
		case v.Kind == protocol.Null:
			continue
		case v.Kind == protocol.Int || v.Kind == protocol.Float:
			now = number
		case !math.IsNaN(seconds(v)):
			now = date
		}
		if k == empty {
			k = now
		}
		if k != now {
			return text
		}
	}
	return k
}

// float returns a number that has a place on a scale, and NaN for all else.
func float(v protocol.Value) float64 {
	switch {
	case v.Kind == protocol.Int:
		return float64(v.Int)
	case v.Kind == protocol.Float && math.Abs(v.Float) < 1e300: // the bound keeps the span of a scale finite, too
		return v.Float
	}
	return math.NaN()
}

// layouts are how answers write dates and times.
var layouts = []string{time.DateOnly, time.DateTime, "2006-01-02T15:04:05", time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01"}

// seconds returns the time in a text, in seconds since 1970; NaN for a text without one.
func seconds(v protocol.Value) float64 {
	if v.Kind == protocol.Text && len(v.Text) >= len("2006-01") && len(v.Text) <= 40 {
		for _, layout := range layouts {
			if t, err := time.Parse(layout, v.Text); err == nil {
				return float64(t.Unix()) + float64(t.Nanosecond())/1e9
			}
		}
	}
	return math.NaN()
}

// sort sorts the values by x.
func (s *series) sort() {
	order := make([]int, len(s.x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case s.x[a] < s.x[b]:
			return -1
		case s.x[a] > s.x[b]:
			return 1
		}
		return 0
	})
	x, y := make([]float64, len(order)), make([]float64, len(order))
	for i, from := range order {
		x[i], y[i] = s.x[from], s.y[from]
	}
	s.x, s.y = x, y
}
