package input

import (
	"time"

	"posta.dev/posta/protocol"
)

// progress is how far a session's client says that it is with its files. It is told again in each ping, so it is not durable: after a
// restart the input knows it again within a second.
//
// The speed is measured from the first of three moments to the last. When the first is too old, the one in between takes its place.
type progress struct {
	size                uint64 // bytes of the client's files; 0 if it does not say
	first, middle, last readMoment
}

// readMoment is what the client had read when it said so.
type readMoment struct {
	at   time.Time
	read uint64
}

const (
	// readSpan is over how much time speed is measured: over so much at least, once a client has pinged for that long, and over twice as much
	// at most while pings come.
	readSpan = 2 * time.Second
	// readAge is how old the last word of a client may be before no time is estimated from it any more. Clients ping each second.
	readAge = 5 * time.Second
	// longestLeft bounds the estimate.
	longestLeft = 1e6 // seconds
)

// told takes what a ping says. If a client begins again with less, or with other files, the measurement begins again, too.
func (p *progress) told(now time.Time, req *protocol.Request) {
	m := readMoment{now, req.FilesRead}
	if p.size != req.FilesSize || m.read < p.last.read {
		*p = progress{req.FilesSize, m, m, m}
		return
	}
	p.last = m
	if now.Sub(p.middle.at) >= readSpan {
		p.first, p.middle = p.middle, p.last
	}
}

// tell writes into a list's line what the client has told.
func (p *progress) tell(now time.Time, line *protocol.SessionInfo) {
	line.FilesRead, line.FilesSize, line.FilesLeft = p.last.read, p.size, p.left(now)
}

// left returns how long the client needs for the rest, if it continues as fast; 0 if that is not known.
func (p *progress) left(now time.Time) time.Duration {
	span, grown := p.last.at.Sub(p.first.at).Seconds(), p.last.read-p.first.read
	if p.size <= p.last.read || span <= 0 || grown == 0 || now.Sub(p.last.at) > readAge {
		return 0
	}
	seconds := float64(p.size-p.last.read) / float64(grown) * span
	return time.Duration(min(seconds, longestLeft) * float64(time.Second))
}
