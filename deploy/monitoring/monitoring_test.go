// Package monitoring holds a dashboard for Grafana and alerts for Prometheus. Its test reads them as those programs do, as far as names go.
package monitoring

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"

	"posta.dev/posta/nodes/metrics"
)

// sources are the source files that define metrics.
var sources = []string{"../../nodes/metrics/beat.go", "../../nodes/metrics/metrics.go", "../../medic/agent/metrics.go",
	"../../cmd/internal/console/metrics.go"}

// known returns all metrics.
func known(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, file := range sources {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(?:metric|medicMetric|clusterMetric)\("(posta_[a-z_]+)"`).FindAllSubmatch(text, -1)
		if len(found) < 5 {
			t.Errorf("%d metrics in %s: has their form changed?", len(found), file)
		}
		for _, m := range found {
			all[string(m[1])] = true
		}
	}
	return all
}

var labels = []string{"cluster", "node", "stage", "state", "edge", "to", "medic", "target", "version", "le", "job"}

// check looks at an expression: its metrics exist, its labels are ours, the states that it asks for are those of nodes, and its brackets
// fit.
func check(t *testing.T, where, expr string, known map[string]bool) {
	t.Helper()
	for _, name := range regexp.MustCompile(`posta_[a-z_]+`).FindAllString(expr, -1) {
		base := name
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			base = strings.TrimSuffix(base, suffix)
		}
		if !known[name] && !known[base] {
			t.Errorf("%s: there is no metric %s", where, name)
		}
	}
	for _, m := range regexp.MustCompile(`[{,]([a-z_]+)(?:=~|=|!=|!~)"([^"]*)"`).FindAllStringSubmatch(expr, -1) {
		if !slices.Contains(labels, m[1]) {
			t.Errorf("%s: there is no label %s", where, m[1])
		}
		if m[1] != "state" {
			continue
		}
		for state := range strings.SplitSeq(m[2], "|") {
			if !slices.ContainsFunc(metrics.States, func(s metrics.State) bool { return string(s) == state }) {
				t.Errorf("%s: no node is ever in the state %q", where, state)
			}
		}
	}
	for _, m := range regexp.MustCompile(`by \(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			if !slices.Contains(labels, strings.TrimSpace(name)) {
				t.Errorf("%s: there is no label %s", where, name)
			}
		}
	}
	var open []rune
	for _, r := range expr {
		switch i := strings.IndexRune(")}]", r); {
		case strings.ContainsRune("({[", r):
			open = append(open, r)
		case i >= 0 && (len(open) == 0 || open[len(open)-1] != []rune("({[")[i]):
			t.Fatalf("%s: the brackets of %s do not fit", where, expr)
		case i >= 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("%s: the brackets of %s do not fit", where, expr)
	}
}

func TestAlerts_NameWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	metrics, seen := known(t), map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			check(t, r.Alert, r.Expr, metrics)
			if seen[r.Alert] || r.Alert == "" || !regexp.MustCompile(`^[0-9]+[smh]$`).MatchString(r.For) || r.Labels["severity"] == "" ||
				r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%+v is there twice, or not whole", r)
			}
			seen[r.Alert] = true
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d alerts", len(seen))
	}
}

func TestDashboard_NamesWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Query string } }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	metrics, ids := known(t), map[int]bool{}
	for _, p := range file.Panels {
		if ids[p.ID] || len(p.Targets) == 0 || p.Title == "" || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d, %q, is there twice or not whole", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			check(t, p.Title, target.Expr, metrics)
		}
	}
	for _, v := range file.Templating.List {
		check(t, "a variable", v.Query, metrics)
	}
	if len(ids) < 10 {
		t.Errorf("%d panels", len(ids))
	}
}
