package agent

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"posta.dev/posta/internal/exporter"
	"posta.dev/posta/internal/histogram"
	"posta.dev/posta/medic/core"
)

// counts is what a medic counts for its metrics. It is nil if the topology gives the medic no address for them. The loop owns it, except
// view and recovery, which requests for metrics read.
type counts struct {
	cluster, medic string
	server         *exporter.Exporter
	expires        func() time.Time // when the medic's certificate ends; nil: it has none
	view           atomic.Pointer[medicView]
	recovery       histogram.Histogram

	began     bool                   // a journal was seen before: incidents that had ended by then are not counted
	closed    map[incidentID]bool    // incidents of the last journal that have ended; the journal bounds them
	recovered map[core.NodeID]uint64 // incidents that ended while this medic ran; the topology bounds it
}

// incidentID identifies an incident.
type incidentID struct {
	node core.NodeID
	term core.Term
	at   int64
}

// medicView is the state at the loop's last look. It is immutable.
type medicView struct {
	generation uint64
	leading    bool
	open       int
	recovered  map[core.NodeID]uint64
	at         time.Time
}

func medicMetric(name, help string, labels ...string) *exporter.Metric {
	return &exporter.Metric{Name: name, Help: help, Labels: append([]string{"cluster", "medic"}, labels...)}
}

var (
	leadingMetric    = medicMetric("posta_medic_leading", "1 if the medic leads, 0 if not.")
	generationMetric = medicMetric("posta_medic_generation", "Generation that the medic leads or follows.")
	openMetric       = medicMetric("posta_medic_incidents_open", "Nodes and medics that have failed and are not at work again.")
	recoveredMetric  = medicMetric("posta_medic_recoveries_total",
		"Incidents that ended while this medic ran, by the node or medic that had failed.", "target")
	expiryMetric = medicMetric("posta_medic_certificate_expiry_timestamp_seconds",
		"When the medic's certificate ends, in seconds since 1970; missing without keys.")
	recoveryMetric = medicMetric("posta_medic_recovery_seconds", "Time from the last sign of life of a failed node or medic until it was "+
		"at work again, of incidents that ended while this medic ran.")
)

// openMetrics serves the medic's metrics, if the topology gives it an address for them.
func (a *agent) openMetrics() error {
	address := a.cfg.Topology.MetricsAddress(a.node)
	if address == "" {
		return nil
	}
	c := &counts{cluster: a.cfg.Topology.Name, medic: string(a.node.ID), recovered: map[core.NodeID]uint64{}}
	if a.cfg.Keys != nil {
		c.expires = a.cfg.Keys.Expiry
	}
	stuck := a.cfg.Topology.Medics.StuckAfter
	// A medic is ready as soon as its loop makes progress: it waits for nothing else.
	well := func() error { return c.well(time.Now(), stuck) }
	var err error
	if c.server, err = exporter.Start(exporter.Config{Address: address, Collect: c.collect, Healthy: well, Ready: well,
		Log: a.cfg.Log}); err != nil {
		return err
	}
	a.counts = c
	return nil
}

// look records the present state.
func (c *counts) look(now time.Time, term core.Term, leading bool, journal []core.Entry) {
	if c == nil {
		return
	}
	v := &medicView{generation: uint64(term.Gen), leading: leading, at: now}
	closed := map[incidentID]bool{}
	for _, i := range core.Incidents(journal) {
		if i.Open {
			v.open++
			continue
		}
		id := incidentID{i.Node, i.Term, i.At.UnixNano()}
		closed[id] = true
		if c.began && !c.closed[id] {
			c.recovery.Observe(i.Total())
			c.recovered[i.Node]++
		}
	}
	c.began, c.closed = true, closed
	v.recovered = maps.Clone(c.recovered)
	c.view.Store(v)
}

func (c *counts) well(now time.Time, stuck time.Duration) error {
	v := c.view.Load()
	if v == nil {
		return fmt.Errorf("medic %s: %w", c.medic, exporter.ErrNotYet)
	}
	if silent := now.Sub(v.at); silent >= stuck {
		return fmt.Errorf("medic %s has got nothing done for %s", c.medic, silent.Round(time.Millisecond))
	}
	return nil
}

func (c *counts) close() {
	if c != nil {
		c.server.Close()
	}
}

// collect adds everything that the medic counts.
func (c *counts) collect(p *exporter.Page) {
	if c.expires != nil {
		p.Gauge(expiryMetric, float64(c.expires().Unix()), c.cluster, c.medic)
	}
	p.Histogram(recoveryMetric, c.recovery.Snapshot(), c.cluster, c.medic)
	v := c.view.Load()
	if v == nil {
		return
	}
	leading := 0.0
	if v.leading {
		leading = 1
	}
	p.Gauge(leadingMetric, leading, c.cluster, c.medic)
	p.Gauge(generationMetric, float64(v.generation), c.cluster, c.medic)
	p.Gauge(openMetric, float64(v.open), c.cluster, c.medic)
	for _, target := range slices.Sorted(maps.Keys(v.recovered)) {
		p.Counter(recoveredMetric, float64(v.recovered[target]), c.cluster, c.medic, string(target))
	}
}
