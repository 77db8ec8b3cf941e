package cmd

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"posta.dev/posta/internal/freeports"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
)

// scrape returns the metrics that a process serves; "" while it does not answer.
func scrape(t *testing.T, address, path string) (code int, text string) {
	t.Helper()
	c := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	a, err := c.Get("http://" + address + path)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = a.Body.Close() }()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		return 0, ""
	}
	return a.StatusCode, string(b)
}

// value returns the value of the first line that begins with a name and holds all labels; -1 if there is none.
func value(text, name string, labels ...string) float64 {
lines:
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, name+"{") {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(line, l) {
				continue lines
			}
		}
		var v float64
		if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &v); err == nil {
			return v
		}
	}
	return -1
}

// TestMetrics_ARealCluster: each process of a cluster serves its metrics. The Prometheus library can read them, and its linter accepts
// their names. A session is counted in all stages. A node that was killed counts again once it is back, at the same address.
func TestMetrics_ARealCluster(t *testing.T) {
	k := newTestCluster(t)
	first, err := freeports.Row(10)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(k.file)
	if err != nil {
		t.Fatal(err)
	}
	with := strings.Replace(string(text), "[hosts.local]\n", fmt.Sprintf("[hosts.local]\nmetrics = \"127.0.0.1:%d\"\n", first), 1)
	if err := os.WriteFile(k.file, []byte(with), 0o644); err != nil {
		t.Fatal(err)
	}
	top, err := topology.Load(k.file)
	if err != nil {
		t.Fatal(err)
	}
	k.must("up")
	data := filepath.Join(k.dir, "data")
	must(t, "gen", "bikes", "--rows", "2000", "--out", data)
	k.must("submit", "bikes", "--data", data)
	at := map[topology.NodeID]string{}
	for _, n := range top.All() {
		at[n.ID] = top.MetricsAddress(n)
		var page string
		again := time.Now().Add(20 * time.Second)
		await.Until(t, string(n.ID)+" serves metrics and is ready", func() (done bool) {
			code, _ := scrape(t, at[n.ID], "/readyz")
			_, page = scrape(t, at[n.ID], "/metrics")
			if time.Now().After(again) { // a node that was restarted has counted nothing since
				again = time.Now().Add(20 * time.Second)
				k.must("submit", "bikes", "--data", data)
			}
			trips := value(page, "posta_node_frame_round_trip_seconds_count")
			return code == http.StatusOK && (len(n.Chain) == 0 || value(page, "posta_node_commits_total") > 0 &&
				(trips > 0 || n.Holds(topology.Output)) &&
				(!n.Holds(topology.Input) || value(page, "posta_node_chunk_effect_seconds_count") > 0))
		})
		problems, err := promlint.New(strings.NewReader(page)).Lint()
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v, %v", n.ID, problems, err)
		}
		if len(n.Chain) == 0 {
			if value(page, "posta_medic_leading") < 0 {
				t.Errorf("%s:\n%s", n.ID, page)
			}
			continue
		}
		for _, name := range []string{"posta_node_commit_duration_seconds_count", "posta_node_fsync_duration_seconds_count",
			"posta_node_incarnation"} {
			if value(page, name, `node="`+string(n.ID)+`"`) < 1 {
				t.Errorf("%s: %s is %g:\n%s", n.ID, name, value(page, name), page)
			}
		}
		if chunks := value(page, "posta_node_chunk_effect_seconds_count"); (chunks > 0) != n.Holds(topology.Input) {
			t.Errorf("%s has had %g chunks", n.ID, chunks)
		}
	}
	for _, medic := range []topology.NodeID{"medic-1", "medic-2", "medic-3"} {
		var again time.Time
		await.Until(t, string(medic)+" has counted a recovery", func() bool {
			_, page := scrape(t, at[medic], "/metrics")
			if value(page, "posta_medic_recoveries_total", `target="joiner-1"`) >= 1 && value(page, "posta_medic_recovery_seconds_count") >= 1 {
				return true
			}
			// If a medic itself was restarted, it has not seen the last fault. If there is no pid file, or an outdated one, joiner-1 is being
			// started.
			if pid := k.pid("joiner-1"); pid != 0 && time.Now().After(again) && syscall.Kill(pid, syscall.SIGKILL) == nil {
				again = time.Now().Add(20 * time.Second)
			}
			return false
		})
	}
	await.Until(t, "joiner-1 serves metrics again", func() bool {
		_, page := scrape(t, at["joiner-1"], "/metrics")
		return value(page, "posta_node_incarnation") >= 2 && value(page, "posta_node_recovery_seconds") > 0
	})
}
