package console

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/internal/exporter"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/protocol"
)

// TestMetrics_TheClusterIsSummed: what is heard of each node, and of all of them together. A silent node has no values, and is not counted
// as up.
func TestMetrics_TheClusterIsSummed(t *testing.T) {
	seen := cluster(t, 2, 1)
	silent := seen.named(t, "joiner-2")
	silent.Age = time.Hour
	seen.named(t, "input-1").Beat.Running = 1
	seen.named(t, "aggregator-1").Beat.State = heartbeat.Damaged
	s := &Server{cfg: Config{Topology: seen.Topology, Nodes: func() []monitor.Status { return seen.Nodes },
		Medics: func() monitor.Medics { return seen.Medics }}}
	var p exporter.Page
	s.collect(&p)
	text := string(p.Append(nil))
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v, %v:\n%s", err, problems, text)
	}
	for _, want := range []string{
		`posta_cluster_nodes{cluster="posta"} 7`, `posta_cluster_nodes_up{cluster="posta"} 5`, `posta_cluster_medics_up{cluster="posta"} 3`,
		`posta_cluster_has_leader{cluster="posta"} 1`,
		`posta_cluster_sessions_running{cluster="posta"} 1`, `posta_cluster_last_recovery_seconds{cluster="posta"} 1.157`,
		`posta_cluster_incidents_open{cluster="posta"} 0`,
		`posta_node_received_bytes_total{cluster="posta",node="joiner-1",stage="joiner"} 1.073741824e+09`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the page lacks %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, `node="joiner-2"`) {
		t.Error("a silent node has values")
	}
}

// TestS1_WhoScrapesTheConsole: a scraper with the token reads the metrics and nothing else; anybody else sees the login, and a wrong token
// an error.
func TestS1_WhoScrapesTheConsole(t *testing.T) {
	seen := cluster(t, 1, 0)
	const token = "0123456789abcdef"
	server, err := Listen("127.0.0.1:0", Config{
		Topology: seen.Topology, Nodes: func() []monitor.Status { return seen.Nodes }, Medics: func() monitor.Medics { return seen.Medics },
		Trouble:  func() []string { return nil },
		Sessions: func(context.Context) ([]protocol.SessionInfo, error) { return nil, nil }, Announce: func(string) {}, ScrapeToken: token,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for _, c := range []struct {
		path, authorization string
		want                int
	}{
		{"/metrics", "Bearer " + token, http.StatusOK},
		{"/metrics", "", http.StatusUnauthorized},
		{"/metrics", "Bearer " + token + "0", http.StatusUnauthorized},
		{"/metrics", "Bearer ", http.StatusUnauthorized},
		{"/metrics", "Basic " + token, http.StatusUnauthorized},
		{"/", "Bearer " + token, http.StatusUnauthorized},
		{"/events", "Bearer " + token, http.StatusUnauthorized},
	} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server.listener.Addr().String()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.authorization != "" {
			r.Header.Set("Authorization", c.authorization)
		}
		client := http.Client{Timeout: 5 * time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
		a, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if err != nil || a.StatusCode != c.want || strings.Contains(string(body), "posta_cluster_nodes") != (c.want == http.StatusOK) {
			t.Errorf("%s with %q: %d, %v\n%s", c.path, c.authorization, a.StatusCode, err, body)
		}
	}
	if server.cfg.ScrapeToken = ""; server.scrapes(&http.Request{Header: http.Header{"Authorization": {"Bearer "}}}) {
		t.Error("without a token anybody scrapes")
	}
}
