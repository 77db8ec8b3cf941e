package agent

import (
	"bytes"
	"log/slog"
	"regexp"
	"slices"
	"testing"
	"time"

	"posta.dev/posta/medic/core"
)

// A medic takes a term, stores it, and then leads in it: its log says both, each once.
func TestTheLogShowsWhenAMedicLeads(t *testing.T) {
	now := time.Unix(0, 0)
	c := core.New(core.Config{Self: "medic-1", Medics: []core.Member{{ID: "medic-1"}}, Heartbeat: 100 * time.Millisecond,
		SuspectAfter: 800 * time.Millisecond},
		core.State{}, now)
	var text bytes.Buffer
	a := &agent{core: c, cfg: Config{Log: slog.New(slog.NewTextHandler(&text, nil))}}
	leads := false
	for range 10_000 {
		now = now.Add(20 * time.Millisecond)
		c.Tick(now)
		a.logTerm()
		if c.Seal() != nil {
			a.logTerm()
			c.Stored(now)
		}
		a.logTerm()
		if _, leading := c.Term(); leading {
			leads = true
		}
	}
	if !leads {
		t.Fatal("the only medic has not become the leader")
	}
	var said []string
	for _, m := range regexp.MustCompile(`msg=term generation=(\d+ leader=\S+ leading=\w+)`).FindAllStringSubmatch(text.String(), -1) {
		said = append(said, m[1])
	}
	if want := []string{"1 leader=medic-1 leading=false", "1 leader=medic-1 leading=true"}; !slices.Equal(said, want) {
		t.Errorf("the log has %q, want %q:\n%s", said, want, &text)
	}
}
