package apply

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"posta.dev/posta/deploy/engine"
	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is an engine that stops containers and records its calls.
type host struct {
	mu    sync.Mutex
	asked []string
	each  func(w http.ResponseWriter, name string, nth int)
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/_ping") {
		w.Header().Set("Api-Version", engine.MinVersion)
		return
	}
	parts := strings.Split(r.URL.Path, "/")
	name := parts[len(parts)-2]
	h.mu.Lock()
	h.asked = append(h.asked, name)
	nth := 0
	for _, a := range h.asked {
		if a == name {
			nth++
		}
	}
	h.mu.Unlock()
	h.each(w, name, nth)
}

func serve(t *testing.T, name string, h http.Handler) *engine.Engine {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	e, err := engine.Open(t.Context(), name, topology.Deploy{Engine: "tcp://" + s.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func stop(stage int, host, what string) plan.Step {
	return plan.Step{Stage: stage, Do: plan.Stop, Host: host, Unit: what, What: what}
}

// A call without an answer is repeated. A refusal ends the run after the other steps of its stage, before the next
// stage.
func TestStages(t *testing.T) {
	done := func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) }
	a := &host{each: func(w http.ResponseWriter, name string, nth int) {
		if name == "shaky" && nth < 3 {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		done(w)
	}}
	b := &host{each: func(w http.ResponseWriter, name string, _ int) {
		if name == "stubborn" {
			http.Error(w, `{"message":"no"}`, http.StatusInternalServerError)
			return
		}
		done(w)
	}}
	engines := map[string]*engine.Engine{"a": serve(t, "a", a), "b": serve(t, "b", b)}
	var over []string
	c := Config{Engines: engines, Report: func(e Event) {
		if e.Done && e.Err == nil {
			over = append(over, e.Step.What)
		}
	}}
	err := Run(t.Context(), c, plan.Plan{Steps: []plan.Step{
		stop(0, "a", "shaky"), stop(0, "a", "second"), stop(0, "b", "fine"),
		stop(1, "a", "third"), stop(1, "b", "stubborn"), stop(1, "b", "behind"),
		stop(2, "a", "never"),
	}})
	if !errors.Is(err, errStep) || !strings.Contains(err.Error(), "stop stubborn (stubborn) on host b") {
		t.Fatalf("%v", err)
	}
	if want := []string{"shaky", "shaky", "shaky", "second", "third"}; !slices.Equal(a.asked, want) {
		t.Errorf("host a was asked %v", a.asked)
	}
	if want := []string{"fine", "stubborn"}; !slices.Equal(b.asked, want) {
		t.Errorf("host b was asked %v", b.asked)
	}
	slices.Sort(over)
	if want := []string{"fine", "second", "shaky", "third"}; !slices.Equal(over, want) {
		t.Errorf("%v were told to be over", over)
	}
}

func TestAHostThatNobodyHasMet(t *testing.T) {
	err := Run(t.Context(), Config{}, plan.Plan{Steps: []plan.Step{stop(0, "c", "x")}})
	if !errors.Is(err, errStep) || !strings.Contains(err.Error(), "host c") {
		t.Fatalf("%v", err)
	}
}
