package cluster

import (
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/topology"
)

// UpJSON is what `posta up --json` prints.
type UpJSON struct {
	Cluster string            `json:"cluster"`
	Nodes   []topology.NodeID `json:"nodes"` // of this machine, or of the hosts that --host names
	Medics  []topology.NodeID `json:"medics"`
	Started int               `json:"started"` // processes; the other ones were running already
	Logs    string            `json:"logs"`    // directory
	TookMS  int64             `json:"took_ms"`
}

// DownJSON is what `posta down --json` prints.
type DownJSON struct {
	Cluster string            `json:"cluster"`
	Nodes   []topology.NodeID `json:"nodes"` // nodes that were stopped
	Medics  []topology.NodeID `json:"medics"`
	Killed  []topology.NodeID `json:"killed"` // those of Nodes that did not end in time
	TookMS  int64             `json:"took_ms"`
}

// StoppedAsJSON returns what posta down --json prints.
func StoppedAsJSON(t *topology.Topology, all []medic.Stopped, took time.Duration) DownJSON {
	out := DownJSON{Cluster: t.Name, Nodes: []topology.NodeID{}, Medics: []topology.NodeID{}, Killed: []topology.NodeID{},
		TookMS: took.Milliseconds()}
	for _, s := range all {
		if _, err := t.Medic(s.Node); err == nil {
			out.Medics = append(out.Medics, s.Node)
		} else {
			out.Nodes = append(out.Nodes, s.Node)
		}
		if s.Killed {
			out.Killed = append(out.Killed, s.Node)
		}
	}
	return out
}
