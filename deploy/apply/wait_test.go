package apply

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/deploy/engine"
	"posta.dev/posta/deploy/plan"
)

// A container counts as one that keeps dying if it was started a moment ago and is started again during the wait.
// Nobody waits for a container that has run for long.
func TestAwaitSteady(t *testing.T) {
	for name, c := range map[string]struct {
		started func(look int) time.Duration // before now
		want    string                       // of the error; "" is none
	}{
		"long":    {func(int) time.Duration { return time.Hour }, ""},
		"again":   {func(look int) time.Duration { return 2 * time.Second / time.Duration(look) }, "joiner-1 does not stay up"},
		"stopped": {func(int) time.Duration { return -1 }, "it does not run"},
	} {
		t.Run(name, func(t *testing.T) {
			look, now := 0, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			e := serve(t, "a", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/_ping"):
					w.Header().Set("Api-Version", engine.MinVersion)
				case strings.HasSuffix(r.URL.Path, "/info"):
					_ = json.NewEncoder(w).Encode(map[string]any{"SystemTime": now.Format(time.RFC3339Nano)})
				case strings.HasSuffix(r.URL.Path, "/json"):
					look++
					ago := c.started(look)
					_ = json.NewEncoder(w).Encode(map[string]any{"Id": "x", "State": map[string]any{"Running": ago > 0,
						"StartedAt": now.Add(-ago).Format(time.RFC3339Nano)}})
				}
			}))
			r := &runner{}
			began := time.Now()
			err := r.awaitSteady(t.Context(), e, plan.Step{Do: plan.AwaitSteady, Unit: "joiner-1", What: "c-joiner-1"})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if c.want == "" && time.Since(began) > steadyTime {
				t.Errorf("it took %s", time.Since(began))
			}
		})
	}
}
