package board

import (
	"slices"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// Seen is what was heard of a cluster at one moment.
type Seen struct {
	Topology *topology.Topology
	At       time.Time
	Nodes    []monitor.Status // in the order of the topology
	Medics   monitor.Medics
	Sessions []Session
	Trouble  []string // problems of looking itself, like nodes that do not answer
}

// Session is a session with the speed at which inputs read it.
type Session struct {
	monitor.Session
	PerSecond float64 // bytes; 0 while not known
}

// Meter remembers how much of each session had been read at the last look.
type Meter struct {
	at   time.Time
	read map[session.ID]uint64
}

// Measure adds speeds to sessions. Running sessions come first, and among equals the one that began last.
func (m *Meter) Measure(all []monitor.Session, now time.Time) []Session {
	read := make(map[session.ID]uint64, len(all))
	out := make([]Session, len(all))
	span := now.Sub(m.at).Seconds()
	for i, s := range all {
		out[i].Session = s
		read[s.ID] = s.Bytes
		if before, known := m.read[s.ID]; known && span > 0 && s.State == session.Running && s.Bytes > before {
			out[i].PerSecond = float64(s.Bytes-before) / span
		}
	}
	m.at, m.read = now, read
	slices.SortStableFunc(out, func(a, b Session) int {
		ended := func(s Session) int {
			if s.State == session.Running {
				return 0
			}
			return 1
		}
		if d := ended(a) - ended(b); d != 0 {
			return d
		}
		return int(a.Age/time.Millisecond) - int(b.Age/time.Millisecond)
	})
	return out
}

type sign = monitor.Sign

const (
	fine    = monitor.Fine
	care    = monitor.Care
	blocked = monitor.Blocked
	dead    = monitor.Dead
)

var marks = map[sign]string{fine: "●", care: "▲", blocked: "■", dead: "✗"}

// colours are the codes of SGR.
var colours = map[sign]string{fine: "32", care: "33", blocked: "35", dead: "31"}
