package status

import (
	"time"

	"posta.dev/posta/cmd/internal/incidents"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/topology"
)

// nodeJSON is a node in `posta status --json`. A silent node has only the first four fields. Names of fields are part of the interface.
type nodeJSON struct {
	Node  string `json:"node"`
	Stage string `json:"stage"`
	Host  string `json:"host"`
	State string `json:"state"`

	Incarnation uint64     `json:"incarnation,omitempty"`
	LogID       string     `json:"log_id,omitempty"`
	PID         int        `json:"pid,omitempty"`
	HeardMS     int64      `json:"heard_ms"` // since the last heartbeat; -1 if there was none
	UptimeMS    int64      `json:"uptime_ms"`
	FramesIn    uint64     `json:"frames_in"` // since the node's start, as for all counters
	BytesIn     uint64     `json:"bytes_in"`
	FramesOut   uint64     `json:"frames_out"`
	BytesOut    uint64     `json:"bytes_out"`
	InPerSecond float64    `json:"bytes_in_per_second"`
	OutPerSec   float64    `json:"bytes_out_per_second"`
	Damaged     uint64     `json:"frames_damaged"` // frames that did not arrive as sent, or arrived where they do not belong (R18)
	Commits     uint64     `json:"commits"`
	LogBytes    uint64     `json:"log_bytes"`
	Backlog     uint64     `json:"backlog_bytes"`
	Memory      uint64     `json:"memory_bytes"` // of the process; 0 if not known
	Sessions    int        `json:"sessions"`
	Links       []linkJSON `json:"links"`
	Trouble     string     `json:"trouble,omitempty"` // what is wrong now, and what to do
	CertEnds    string     `json:"certificate_ends,omitempty"`

	// Set if the node has made no progress for 2 s or longer: for how long, and what it works on.
	MarkAgeMS int64  `json:"mark_age_ms,omitempty"`
	WorksIn   string `json:"works_in,omitempty"` // stage
	Session   string `json:"session,omitempty"`
	Stream    string `json:"stream,omitempty"`
}

type linkJSON struct {
	Edge  string `json:"edge"`
	To    string `json:"to,omitempty"` // empty where one outbox serves all receivers
	Bytes uint64 `json:"backlog_bytes"`
	Full  bool   `json:"full"`
}

type medicJSON struct {
	Medic       string `json:"medic"`
	Host        string `json:"host"`
	State       string `json:"state"` // leading, following, silent
	Generation  uint64 `json:"generation,omitempty"`
	Incarnation uint64 `json:"incarnation,omitempty"`
	PID         int    `json:"pid,omitempty"`
	HeardMS     int64  `json:"heard_ms"` // -1: never
	UptimeMS    int64  `json:"uptime_ms"`
	CertEnds    string `json:"certificate_ends,omitempty"`
}

// printStatusJSON prints one line, so that --watch is a line per look.
func (x *command) printStatusJSON(t *topology.Topology, view []monitor.Status, running []monitor.Session, medics monitor.Medics,
	ends func(topology.Node) (time.Time, bool)) error {
	out := struct {
		Cluster    string                   `json:"cluster"`
		Nodes      []nodeJSON               `json:"nodes"`
		Running    []runningJSON            `json:"running"`
		Leader     string                   `json:"leader"` // "" if none is heard
		Generation uint64                   `json:"generation"`
		Medics     []medicJSON              `json:"medics"`
		Incidents  []incidents.IncidentJSON `json:"incidents"` // oldest first
	}{Cluster: t.Name, Nodes: make([]nodeJSON, len(view)), Running: runningAsJSON(running), Generation: uint64(medics.Term.Gen),
		Medics: []medicJSON{}, Incidents: []incidents.IncidentJSON{}}
	for i := range view {
		out.Nodes[i] = nodeAsJSON(&view[i])
		out.Nodes[i].CertEnds = endText(ends(view[i].Node))
	}
	if medics.Led {
		out.Leader = string(medics.Term.Leader)
	}
	for i := range medics.All {
		m := medicAsJSON(&medics.All[i])
		m.CertEnds = endText(ends(medics.All[i].Node))
		out.Medics = append(out.Medics, m)
	}
	for _, i := range core.Incidents(medics.Entries) {
		out.Incidents = append(out.Incidents, incidents.IncidentAsJSON(&i))
	}
	return x.PrintJSON(out)
}

// endText writes when a certificate ends; "" if that is not known.
func endText(end time.Time, known bool) string {
	if !known {
		return ""
	}
	return end.UTC().Format(time.RFC3339)
}

func medicAsJSON(m *monitor.Medic) medicJSON {
	j := medicJSON{Medic: string(m.Node.ID), Host: m.Node.Host, State: m.State(), HeardMS: -1}
	if m.Heard {
		b := &m.Beat
		j.Generation, j.Incarnation, j.PID = uint64(b.Term.Gen), b.ID.Incarnation, b.ID.PID
		j.HeardMS, j.UptimeMS = m.Age.Milliseconds(), b.Uptime.Milliseconds()
	}
	return j
}

func nodeAsJSON(s *monitor.Status) nodeJSON {
	n := nodeJSON{Node: string(s.Node.ID), Stage: s.Node.Stage, Host: s.Node.Host, State: "silent", HeardMS: -1, Links: []linkJSON{}}
	if !s.Heard {
		return n
	}
	b := &s.Beat
	n.HeardMS, n.UptimeMS = s.Age.Milliseconds(), b.Uptime.Milliseconds()
	if !s.Silent() {
		n.State = string(b.State)
	}
	n.Incarnation, n.LogID, n.PID = uint64(b.ID.Incarnation), b.ID.LogID.String(), b.PID
	n.FramesIn, n.BytesIn, n.FramesOut, n.BytesOut = b.FramesIn, b.BytesIn, b.FramesOut, b.BytesOut
	n.InPerSecond, n.OutPerSec = round(s.InRate), round(s.OutRate)
	n.Damaged = b.Damaged
	n.Commits, n.LogBytes, n.Backlog, n.Memory, n.Sessions = b.Commits, b.LogBytes, s.Backlog(), b.Memory, b.Sessions
	n.Trouble = s.Trouble()
	if s.Busy() {
		n.MarkAgeMS, n.WorksIn, n.Stream = b.MarkAge.Milliseconds(), b.Role, b.Stream
		if b.Role != "" {
			n.Session = b.Session.String()
		}
	}
	for _, l := range b.Links {
		n.Links = append(n.Links, linkJSON{Edge: l.Edge, To: string(l.To), Bytes: l.Bytes, Full: l.Full})
	}
	return n
}

func round(f float64) float64 { return float64(int64(f + 0.5)) }
