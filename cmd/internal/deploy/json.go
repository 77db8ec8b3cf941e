package deploy

import (
	"time"

	"posta.dev/posta/deploy/plan"
)

// DeployJSON is what `posta deploy --json` prints, with and without --plan.
type DeployJSON struct {
	Cluster string     `json:"cluster"`
	Done    bool       `json:"done"`  // false with --plan
	Steps   []StepJSON `json:"steps"` // none if the cluster is as the topology says
	TookMS  int64      `json:"took_ms"`
}

// StepJSON is one step of DeployJSON.
type StepJSON struct {
	Host string `json:"host"`
	Text string `json:"text"`
}

// PlanAsJSON returns the steps of a plan; done says that they were taken.
func PlanAsJSON(cluster string, p plan.Plan, done bool, began time.Time) DeployJSON {
	out := DeployJSON{Cluster: cluster, Done: done, Steps: []StepJSON{}, TookMS: time.Since(began).Milliseconds()}
	for _, s := range p.Steps {
		out.Steps = append(out.Steps, StepJSON{s.Host, s.String()})
	}
	return out
}
