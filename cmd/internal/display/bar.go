package display

import (
	"fmt"
	"time"

	"posta.dev/posta/internal/units"
)

func nameWidth(streams []streamView) int {
	w := 0
	for _, s := range streams {
		w = max(w, Width(Escape(s.Name)))
	}
	return min(w, 20)
}

// Sizes of a line. The bars of all streams have the same length, whatever their numbers are.
const (
	longestBar     = 30
	longestNumbers = len("100%  1023.9 MiB of 1023.9 MiB  1023.9 MiB/s  ETA 59m59s")
)

// bar returns a line for one stream: name, bar, numbers. A narrow terminal gets no bar.
func (s streamView) bar(name, width int) string {
	numbers := s.numbers()
	head := pad(Cut(Escape(s.Name), name), name, false) + " "
	room := min(width-name-longestNumbers-4, longestBar)
	if room < 5 {
		return Cut(head+numbers, width)
	}
	return Cut(head+"["+s.fill(room)+"] "+numbers, width)
}

func (s streamView) fill(cells int) string {
	full := int(s.share() * float64(cells))
	if full == cells && !s.Ended { // the part that was read last is not durable yet
		full--
	}
	return Bar(full, cells)
}

// share returns how much of the stream was read, from 0 to 1. If the stream's size is unknown, it is 0 until the stream ends.
func (s streamView) share() float64 {
	switch {
	case s.Ended:
		return 1
	case s.Total <= 0:
		return 0
	}
	return min(1, float64(s.Read)/float64(s.Total))
}

// numbers returns a text like "12%  34.5 MiB of 280.0 MiB  48.0 MiB/s  ETA 5s". Speed and ETA are left out while they are not known.
func (s streamView) numbers() string {
	speed := ""
	if s.perSecond >= 1 {
		speed = "  " + units.Bytes(int64(s.perSecond)) + "/s"
	}
	switch {
	case s.state == nil:
		return "waiting"
	case s.Ended && s.state.took == 0: // the stream had ended when it was first seen
		return "100%  " + units.Bytes(s.Read)
	case s.Ended:
		return fmt.Sprintf("100%%  %s in %s%s", units.Bytes(s.Read), Span(s.state.took), speed)
	case s.Total < 0 && speed == "" && s.state.took >= rateWindow:
		return units.Bytes(s.Read) + "  nothing read for " + Span(rateWindow)
	case s.Total < 0:
		return units.Bytes(s.Read) + speed
	}
	numbers := fmt.Sprintf("%d%%  %s of %s", int(s.share()*100), units.Bytes(s.Read), units.Bytes(s.Total))
	left := s.Total - s.Read
	switch {
	case s.perSecond < 1 && left > 0 && s.state.took >= rateWindow:
		return numbers + "  nothing read for " + Span(rateWindow)
	case s.perSecond < 1: // too little data for a rate
		return numbers
	}
	numbers += speed
	if left <= 0 { // everything is read, but the cluster has not confirmed it
		return numbers
	}
	return numbers + "  ETA " + ETA(time.Duration(min(float64(left)/s.perSecond, 1e6)*float64(time.Second)))
}
