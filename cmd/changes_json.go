package cmd

import (
	"time"

	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/medic"
	"posta.dev/posta/topology"
)

// upJSON is what `posta up --json` prints.
type upJSON struct {
	Cluster string            `json:"cluster"`
	Nodes   []topology.NodeID `json:"nodes"` // of this machine, or of the hosts that --host names
	Medics  []topology.NodeID `json:"medics"`
	Started int               `json:"started"` // processes; the other ones were running already
	Logs    string            `json:"logs"`    // directory
	TookMS  int64             `json:"took_ms"`
}

// downJSON is what `posta down --json` prints.
type downJSON struct {
	Cluster string            `json:"cluster"`
	Nodes   []topology.NodeID `json:"nodes"` // nodes that were stopped
	Medics  []topology.NodeID `json:"medics"`
	Killed  []topology.NodeID `json:"killed"` // those of Nodes that did not end in time
	TookMS  int64             `json:"took_ms"`
}

func stoppedAsJSON(t *topology.Topology, all []medic.Stopped, took time.Duration) downJSON {
	out := downJSON{Cluster: t.Name, Nodes: []topology.NodeID{}, Medics: []topology.NodeID{}, Killed: []topology.NodeID{},
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

// cancelJSON is what `posta cancel --json` prints.
type cancelJSON struct {
	Session   string `json:"session"`
	Cancelled bool   `json:"cancelled"`
}

// deployJSON is what `posta deploy --json` prints, with and without --plan.
type deployJSON struct {
	Cluster string     `json:"cluster"`
	Done    bool       `json:"done"`  // false with --plan
	Steps   []stepJSON `json:"steps"` // none if the cluster is as the topology says
	TookMS  int64      `json:"took_ms"`
}

type stepJSON struct {
	Host string `json:"host"`
	Text string `json:"text"`
}

func planAsJSON(cluster string, p plan.Plan, done bool, began time.Time) deployJSON {
	out := deployJSON{Cluster: cluster, Done: done, Steps: []stepJSON{}, TookMS: time.Since(began).Milliseconds()}
	for _, s := range p.Steps {
		out.Steps = append(out.Steps, stepJSON{s.Host, s.String()})
	}
	return out
}
