package apply

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/deploy/engine"
	"posta.dev/posta/deploy/plan"
)

// TestAnInputThatHasEnded: a deploy that was killed had told the engine to stop an input. The next deploy found it running, and then it
// ended. No medic is left to start it, so nobody waits for it for long: the plan is outdated.
func TestAnInputThatHasEnded(t *testing.T) {
	e := serve(t, "a", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/_ping"):
			w.Header().Set("Api-Version", engine.MinVersion)
		case strings.HasSuffix(r.URL.Path, "/json"):
			_ = json.NewEncoder(w).Encode(map[string]any{"Id": "x", "State": map[string]any{"Running": false, "ExitCode": 137}})
		default:
			http.Error(w, `{"message":"no"}`, http.StatusNotFound)
		}
	}))
	for _, do := range []plan.Verb{plan.HoldSessions, plan.DrainSessions} {
		t.Run(string(do), func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			c := Config{Engines: map[string]*engine.Engine{"a": e}, Wait: time.Hour}
			err := Run(t.Context(), c, plan.Plan{Steps: []plan.Step{{Do: do, Host: "a", Unit: "input-1", What: "c-input-1"}}})
			if !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), "exit status 137") {
				t.Errorf("%v", err)
			}
			if took := time.Since(began); took < endedFor {
				t.Errorf("medics have %s to start it", took)
			}
		})
	}
}
