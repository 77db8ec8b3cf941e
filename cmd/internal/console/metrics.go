package console

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/internal/exporter"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/nodes/metrics"
)

func clusterMetric(name, help string) *exporter.Metric {
	return &exporter.Metric{Name: name, Help: help, Labels: []string{"cluster"}}
}

var (
	nodesMetric     = clusterMetric("posta_cluster_nodes", "Nodes in the topology.")
	nodesUpMetric   = clusterMetric("posta_cluster_nodes_up", "Nodes that are heard and take part.")
	medicsMetric    = clusterMetric("posta_cluster_medics", "Medics in the topology.")
	medicsUpMetric  = clusterMetric("posta_cluster_medics_up", "Medics that are heard.")
	leaderMetric    = clusterMetric("posta_cluster_has_leader", "1 if a medic leads, 0 if none does: then nothing that dies is started again.")
	incidentsMetric = clusterMetric("posta_cluster_incidents_open", "Nodes and medics that have failed and are not at work again.")
	lastMetric      = clusterMetric("posta_cluster_last_recovery_seconds",
		"Time from the last sign of life until it was at work again, of the incident that ended last; missing if there was none.")
	backlogMetric = clusterMetric("posta_cluster_backlog_bytes", "Bytes on all links that no receiver has acknowledged.")
	logMetric     = clusterMetric("posta_cluster_log_bytes", "Size of all logs.")
	memoryMetric  = clusterMetric("posta_cluster_memory_bytes", "Resident memory of all nodes, as far as it is known.")
	runningMetric = clusterMetric("posta_cluster_sessions_running", "Sessions that hold a place at the inputs.")
)

// collect adds what was seen of the cluster. It reads the same view as the pages, and sends no request to the cluster.
func (s *Server) collect(p *exporter.Page) {
	t, nodes, medics := s.cfg.Topology, s.cfg.Nodes(), s.cfg.Medics()
	up, running := 0, 0
	var backlog, logs, memory uint64
	for i := range nodes {
		n := &nodes[i]
		if n.Up(monitor.SilentFor) {
			up++
		}
		if !n.Heard || n.Silent() {
			continue // an old value would look like a new one
		}
		metrics.Node{Cluster: t.Name, Node: string(n.Node.ID), Stage: n.Node.Stage}.Beat(p, &n.Beat, n.Age)
		backlog, logs, memory = backlog+n.Backlog(), logs+n.Beat.LogBytes, memory+n.Beat.Memory
		if n.Node.Sockets.Client.Exists() && n.Node.Stage == t.StagesInOrder()[0].Name {
			running += n.Beat.Running
		}
	}
	medicsUp := 0
	for i := range medics.All {
		if medics.All[i].State() != "silent" {
			medicsUp++
		}
	}
	open := 0
	var last time.Duration
	for _, i := range core.Incidents(medics.Entries) {
		if i.Open {
			open++
		} else {
			last = i.Total()
		}
	}
	gauge := func(m *exporter.Metric, v float64) { p.Gauge(m, v, t.Name) }
	gauge(nodesMetric, float64(len(nodes)))
	gauge(nodesUpMetric, float64(up))
	gauge(medicsMetric, float64(len(medics.All)))
	gauge(medicsUpMetric, float64(medicsUp))
	leads := 0.0
	if medics.Led {
		leads = 1
	}
	gauge(leaderMetric, leads)
	gauge(incidentsMetric, float64(open))
	if last > 0 {
		gauge(lastMetric, last.Seconds())
	}
	gauge(backlogMetric, float64(backlog))
	gauge(logMetric, float64(logs))
	gauge(memoryMetric, float64(memory))
	gauge(runningMetric, float64(running))
}

// metrics serves /metrics to browsers that are logged in, and to scrapers that bring the token of Config.ScrapeToken.
func (s *Server) metrics() http.Handler {
	serve := exporter.Metrics(s.collect)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.scrapes(r) {
			serve.ServeHTTP(w, r)
			return
		}
		if r.Header.Get("Authorization") != "" {
			http.Error(w, "this is not the token of this console's --metrics-token", http.StatusUnauthorized)
			return
		}
		s.known(plain(serve.ServeHTTP))(w, r)
	})
}

// scrapes compares digests, so that the time it takes reveals nothing about the token.
func (s *Server) scrapes(r *http.Request) bool {
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer || s.cfg.ScrapeToken == "" {
		return false
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.cfg.ScrapeToken))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
