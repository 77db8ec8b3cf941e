package agent

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"posta.dev/posta/internal/exporter"
	"posta.dev/posta/medic/core"
)

// TestMetrics_AnIncidentIsCountedOnce: an incident is counted when it has ended, however often the journal is read.
// Incidents that had ended before the medic started are not counted.
func TestMetrics_AnIncidentIsCountedOnce(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	incident := func(n uint64, node core.NodeID, at time.Time) []core.Entry {
		id := func(k uint64) core.EntryID {
			return core.EntryID{Term: core.Term{Gen: 1, Leader: "medic-1"}, N: 3*n + k}
		}
		return []core.Entry{
			{EntryID: id(1), At: at, Kind: core.Suspected, Node: node, Silent: 800 * time.Millisecond},
			{EntryID: id(2), At: at.Add(100 * time.Millisecond), Kind: core.Restarted, Node: node},
			{EntryID: id(3), At: at.Add(400 * time.Millisecond), Kind: core.Recovered, Node: node},
		}
	}
	c := &counts{cluster: "posta", medic: "medic-1", recovered: map[core.NodeID]uint64{}}
	now := time.Now()
	if err := c.well(now, time.Second); !errors.Is(err, exporter.ErrNotYet) {
		t.Errorf("it has not looked, and is well: %v", err)
	}
	past := incident(0, "joiner-1", at)
	c.look(now, core.Term{Gen: 1}, true, past)
	all := append(past, incident(1, "joiner-1", at.Add(time.Minute))...)
	for n := range all[3:] {
		c.look(now, core.Term{Gen: 2}, true, all[:3+n+1])
		c.look(now, core.Term{Gen: 2}, true, all[:3+n+1])
	}
	c.look(now, core.Term{Gen: 2}, true, append(all, incident(2, "output-1", at.Add(time.Hour))[:1]...))
	var p exporter.Page
	c.collect(&p)
	text := string(p.Append(nil))
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v, %v:\n%s", err, problems, text)
	}
	const of = `{cluster="posta",medic="medic-1"`
	for _, want := range []string{
		"posta_medic_recovery_seconds_count" + of + "} 1", "posta_medic_recovery_seconds_sum" + of + "} 1.2",
		"posta_medic_recoveries_total" + of + `,target="joiner-1"} 1`,
		"posta_medic_incidents_open" + of + "} 1", "posta_medic_generation" + of + "} 2", "posta_medic_leading" + of + "} 1",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the page lacks %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, "output-1") {
		t.Error("an incident that is open is counted")
	}
	if c.well(now.Add(999*time.Millisecond), time.Second) != nil || c.well(now.Add(time.Second), time.Second) == nil {
		t.Error("a medic is well for another time than medics.stuck_after")
	}
}
