package cmd

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/chaos"
	"posta.dev/posta/cmd/internal/cluster"
	"posta.dev/posta/cmd/internal/deploy"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/sessions"
	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/medic"
	"posta.dev/posta/topology"
)

// TestTheTerminalPageHasEveryField: docs/terminal.md names every field of the documents that --json prints.
func TestTheTerminalPageHasEveryField(t *testing.T) {
	page, err := os.ReadFile("../docs/terminal.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range []any{cluster.UpJSON{}, cluster.DownJSON{}, sessions.CancelJSON{}, deploy.DeployJSON{}, deploy.StepJSON{},
		chaos.ChaosJSON{}, chaos.FaultJSON{}} {
		of := reflect.TypeOf(document)
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if name == "" || !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("docs/terminal.md does not say what %q of %s is", name, of.Name())
			}
		}
	}
}

func TestDocumentsHaveNoNull(t *testing.T) {
	for _, document := range []any{
		cluster.StoppedAsJSON(&topology.Topology{}, nil, time.Second), cluster.StoppedAsJSON(&topology.Topology{}, []medic.Stopped{{Node: "a"}},
			0),
		deploy.PlanAsJSON("c", plan.Plan{}, true, time.Now()),
		deploy.PlanAsJSON("c", plan.Plan{Steps: []plan.Step{{Host: "h"}}}, false, time.Now()),
		(&chaos.FaultInjector{Faults: []chaos.Fault{{}}}).AsJSON(monitor.Medics{}, time.Now()),
	} {
		if b, err := json.Marshal(document); err != nil || strings.Contains(string(b), "null") {
			t.Errorf("%s, %v", b, err)
		}
	}
}
