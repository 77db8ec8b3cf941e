package chaos

import (
	"time"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/incidents"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic/core"
)

// ChaosJSON is what `posta chaos --json` prints. Names of fields are part of the interface, as in all of these.
type ChaosJSON struct {
	Seed      uint64                   `json:"seed"`
	TookMS    int64                    `json:"took_ms"`
	Faults    []FaultJSON              `json:"faults"`    // in the order in which they happened
	Incidents []incidents.IncidentJSON `json:"incidents"` // those that began during the run, oldest first
	Missing   []string                 `json:"missing"`   // what did not come back in time
}

// FaultJSON is one fault of ChaosJSON.
type FaultJSON struct {
	At         string `json:"at"`
	Kind       string `json:"kind"`
	Node       string `json:"node"`
	PID        int    `json:"pid"`              // 0 if the target was dead
	ForMS      int64  `json:"for_ms,omitempty"` // 0 for faults that end at once
	Done       bool   `json:"done"`
	Unanswered bool   `json:"unanswered,omitempty"` // the call was given up, so it may have happened
	Error      string `json:"error,omitempty"`
}

// AsJSON returns what was done since began.
func (r *FaultInjector) AsJSON(view monitor.Medics, began time.Time) ChaosJSON {
	out := ChaosJSON{
		Seed: r.seed, TookMS: time.Since(began).Milliseconds(), Faults: []FaultJSON{}, Incidents: []incidents.IncidentJSON{},
		Missing: append([]string{}, missing(view, 2*r.suspect)...),
	}
	for i := range r.Faults {
		f := &r.Faults[i]
		j := FaultJSON{At: f.at.UTC().Format(time.RFC3339Nano), Kind: string(f.kind), Node: string(f.node), PID: f.pid,
			ForMS: f.lasts.Milliseconds(), Done: f.done(), Unanswered: f.unanswered}
		if f.err != nil {
			j.Error = exit.OneLine(f.err)
		}
		out.Faults = append(out.Faults, j)
	}
	for _, i := range core.Incidents(view.Entries) {
		if !i.At.Before(began) {
			out.Incidents = append(out.Incidents, incidents.IncidentAsJSON(&i))
		}
	}
	return out
}
