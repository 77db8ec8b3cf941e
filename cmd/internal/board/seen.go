package board

import (
	"slices"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/nodes/heartbeat"
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

// sign is the condition of a node.
type sign int

const (
	fine    sign = iota
	care         // it works, and something is wrong with it
	blocked      // it waits for a receiver
	dead         // silent, or with a damaged log
)

var marks = []string{fine: "●", care: "▲", blocked: "■", dead: "✗"}

// colours are the codes of SGR.
var colours = []string{fine: "32", care: "33", blocked: "35", dead: "31"}

func signOf(s *monitor.Status) sign {
	full := slices.ContainsFunc(s.Beat.Links, func(l heartbeat.Link) bool { return l.Full })
	switch {
	case s.Silent() || s.Beat.State == heartbeat.Damaged:
		return dead
	case full || s.Beat.State == heartbeat.Blocked:
		return blocked
	case s.Beat.State != heartbeat.Running || s.Busy() || s.Beat.Trouble != "":
		return care
	}
	return fine
}
