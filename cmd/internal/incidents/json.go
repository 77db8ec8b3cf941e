package incidents

import (
	"time"

	"posta.dev/posta/medic/core"
)

// IncidentJSON is an incident in the documents of posta status and posta chaos.
type IncidentJSON struct {
	Node       string `json:"node"`
	At         string `json:"at"`
	Leader     string `json:"leader"`
	Generation uint64 `json:"generation"`
	Cause      string `json:"cause"`
	InARow     int    `json:"in_a_row"`
	Restarts   int    `json:"restarts"`
	Found      bool   `json:"found"` // the leader found that the node was restarted already
	DetectMS   int64  `json:"detect_ms"`
	RestartMS  int64  `json:"restart_ms"`
	RecoverMS  int64  `json:"recover_ms"`
	Life       uint64 `json:"incarnation,omitempty"` // the incarnation that came back
	Open       bool   `json:"open"`
	Trouble    string `json:"trouble,omitempty"`
}

// IncidentAsJSON returns an incident as such a document has it.
func IncidentAsJSON(i *core.Incident) IncidentJSON {
	return IncidentJSON{
		Node: string(i.Node), At: i.At.UTC().Format(time.RFC3339Nano), Leader: string(i.Term.Leader), Generation: uint64(i.Term.Gen),
		Cause: i.Cause, InARow: i.InARow, Restarts: i.Restarts, Found: i.Found, DetectMS: i.Silent.Milliseconds(),
		RestartMS: i.Restart.Milliseconds(), RecoverMS: i.Recovery.Milliseconds(), Life: i.Incarnation, Open: i.Open, Trouble: i.Trouble,
	}
}
