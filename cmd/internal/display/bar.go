package display

import (
	"fmt"
	"time"
)

func nameWidth(streams []streamView) int {
	w := 0
	for _, s := range streams {
		w = max(w, Width(Escape(s.Name)))
	}
	return min(w, 20)
}

// Sizes of a line. The bars of all streams have one length, whatever their numbers are at the moment.
const (
	longestBar     = 30
	longestNumbers = len("100%  1023.9 MiB of 1023.9 MiB  1023.9 MiB/s  ETA 59m59s")
)

// bar is a line for one stream: name, bar, numbers. On a narrow terminal the bar goes first.
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
	if full == cells && !s.Ended { // read is not yet durable
		full--
	}
	return Bar(full, cells)
}

// share is how much of the stream was read, 0 to 1; of unknown size, none until it ends.
func (s streamView) share() float64 {
	switch {
	case s.Ended:
		return 1
	case s.Total <= 0:
		return 0
	}
	return min(1, float64(s.Read)/float64(s.Total))
}

// numbers is "12%  34.5 MiB of 280.0 MiB  48.0 MiB/s  ETA 5.1s".
func (s streamView) numbers() string {
	speed := Bytes(int64(s.perSecond)) + "/s"
	switch {
	case s.state == nil:
		return "waiting"
	case s.Ended && s.state.took == 0: // seen for the first time when it was over
		return "100%  " + Bytes(s.Read)
	case s.Ended:
		return fmt.Sprintf("100%%  %s in %s  %s", Bytes(s.Read), Span(s.state.took), speed)
	case s.Total < 0:
		return fmt.Sprintf("%s  %s", Bytes(s.Read), speed)
	}
	return fmt.Sprintf("%d%%  %s of %s  %s  ETA %s", int(s.share()*100), Bytes(s.Read), Bytes(s.Total), speed, s.eta())
}

func (s streamView) eta() string {
	left := max(0, s.Total-s.Read)
	if s.perSecond <= 0 {
		return "?"
	}
	return Span(time.Duration(min(float64(left)/s.perSecond, 1e6) * float64(time.Second)))
}
