package apply

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/deploy/engine"
	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/topology"
)

// medics is an engine with a medic and another container.
type medics struct {
	mu      *sync.Mutex
	name    string
	running map[string]bool // by container, of all engines
	stopped func(name string)
}

func (m *medics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	say := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/_ping"):
		w.Header().Set("Api-Version", engine.MinVersion)
	case strings.HasSuffix(path, "/containers/json"):
		say([]map[string]any{{"Id": m.name}, {"Id": "input-1"}})
	case strings.HasSuffix(path, m.name+"/json"):
		say(inspected(m.name, topology.RoleMedic, m.running[m.name]))
	case strings.HasSuffix(path, "input-1/json"):
		say(inspected("input-1", topology.RoleNode, true))
	case strings.HasSuffix(path, m.name+"/stop"):
		m.running[m.name] = false
		m.stopped(m.name)
		w.WriteHeader(http.StatusNoContent)
	default:
		http.Error(w, `{"message":"that is not to be asked"}`, http.StatusInternalServerError)
	}
}

func inspected(name, role string, running bool) map[string]any {
	return map[string]any{
		"Id": name, "Name": "/" + name, "State": map[string]any{"Running": running},
		"Config": map[string]any{"Labels": map[string]string{topology.LabelRole: role}},
	}
}

// twoMedics returns a runner with a medic on each of two engines. It calls stopped for each medic that was stopped.
func twoMedics(t *testing.T, stopped func(running map[string]bool, name string)) (*runner, map[string]bool) {
	t.Helper()
	running := map[string]bool{"medic-1": true, "medic-2": true}
	var mu sync.Mutex
	r := &runner{Config: Config{Engines: map[string]*engine.Engine{}, MedicsWait: time.Second}}
	for host, name := range map[string]string{"a": "medic-1", "b": "medic-2"} {
		m := &medics{mu: &mu, name: name, running: running, stopped: func(name string) { stopped(running, name) }}
		r.Engines[host] = serve(t, host, m)
		r.Observed.Engines = append(r.Observed.Engines, plan.Engine{ID: host, Hosts: []string{host}})
	}
	return r, running
}

// A medic that is being stopped restarts one that was stopped before it, several times. In the end no medic is left.
func TestStopMedics_UntilNoMedicRuns(t *testing.T) {
	left := 5
	r, running := twoMedics(t, func(running map[string]bool, name string) {
		if left--; left > 0 {
			running["medic-1"] = running["medic-1"] || name == "medic-2"
			running["medic-2"] = running["medic-2"] || name == "medic-1"
		}
	})
	if err := r.stopMedics(t.Context()); err != nil {
		t.Fatal(err)
	}
	if running["medic-1"] || running["medic-2"] || left > 0 {
		t.Errorf("run still: %v; %d were not stopped", running, left)
	}
}

// A take-down waits for no heartbeat, so its Beat is 0. It used to give up after the first round that found a medic.
func TestStopMedics_OfATakeDown(t *testing.T) {
	again := true
	r, running := twoMedics(t, func(running map[string]bool, name string) {
		if name == "medic-2" && again {
			again, running["medic-1"] = false, true
		}
	})
	r.Config.MedicsWait = 0
	if err := r.stopMedics(t.Context()); err != nil || running["medic-1"] || running["medic-2"] {
		t.Errorf("%v; still running: %v", err, running)
	}
}

func TestStopMedics_AnotherProcessStartsThem(t *testing.T) {
	r, _ := twoMedics(t, func(running map[string]bool, name string) { running[name] = true })
	err := r.stopMedics(t.Context())
	if err == nil || !strings.Contains(err.Error(), "medic-1, medic-2") && !strings.Contains(err.Error(), "medic-2, medic-1") {
		t.Errorf("medics that never end are reported so: %v", err)
	}
}
