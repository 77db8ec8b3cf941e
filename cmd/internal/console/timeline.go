package console

import (
	"fmt"
	"html/template"
	"math"
	"sync"
	"time"

	"posta.dev/posta/cmd/internal/chart"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/protocol"
	"posta.dev/posta/topology"
)

// Bounds of the time line.
const (
	momentLooks = 5   // looks at the cluster for each moment that is kept: 5 s with one look per second
	momentsKept = 121 // 10 minutes, including both ends
	minutesRows = 11  // rows of the table: one for each 12th moment
	stagesDrawn = 6   // a chart has this many colours; if a pipeline has more stages, only their sum is drawn
)

// load is what a stage does at one moment. Silent nodes are left out: their last report no longer holds.
type load struct {
	In     float64 // bytes per second, over links
	Memory uint64
	Log    uint64
}

func (l *load) add(m load) { l.In, l.Memory, l.Log = l.In+m.In, l.Memory+m.Memory, l.Log+m.Log }

// moment is the load of a cluster at one time, by stage in the order of the pipeline.
type moment struct {
	at     time.Time
	stages []load
}

func (m *moment) sum() (all load) {
	for _, l := range m.stages {
		all.add(l)
	}
	return all
}

// momentOf adds up what the nodes of each stage report.
func momentOf(t *topology.Topology, nodes []monitor.Status, at time.Time) moment {
	m := moment{at: at}
	for _, stage := range t.StagesInOrder() {
		var all load
		for i := range nodes {
			if s := &nodes[i]; s.Node.Stage == stage.Name && !s.Silent() {
				all.add(load{s.InRate, s.Beat.Memory, s.Beat.LogBytes})
			}
		}
		m.stages = append(m.stages, all)
	}
	return m
}

// past keeps the last moments. It does so even if nobody looks at a page.
type past struct {
	every time.Duration // between two moments

	mu   sync.Mutex
	ring [momentsKept]moment
	next int // index at which the next moment is stored
	kept int
}

// add keeps a moment, unless the last one is too recent. make is called only if the moment is kept.
func (p *past) add(at time.Time, make func(time.Time) moment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept > 0 && at.Sub(p.ring[(p.next+momentsKept-1)%momentsKept].at) < p.every {
		return
	}
	p.ring[p.next] = make(at)
	p.next, p.kept = (p.next+1)%momentsKept, min(p.kept+1, momentsKept)
}

// list returns the moments, oldest first. They are immutable.
func (p *past) list() []moment {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]moment, 0, p.kept)
	for i := range p.kept {
		all = append(all, p.ring[(p.next+2*momentsKept-p.kept+i)%momentsKept])
	}
	return all
}

// timeline is the part of the overview that shows the past.
type timeline struct {
	Head   string // length of the recorded past
	Text   string // the maximum of each value, in words
	Chart  template.HTML
	Rows   []timeRow
	Stages bool // the chart has a line for each stage; else one line for all
}

type timeRow struct{ At, When, In, Memory, Log string }

func (s *Seen) timeline() timeline {
	if len(s.Past) == 0 {
		return timeline{}
	}
	first, last := s.Past[0].at, s.Past[len(s.Past)-1].at
	var most load
	for i := range s.Past {
		all := s.Past[i].sum()
		most = load{max(most.In, all.In), max(most.Memory, all.Memory), max(most.Log, all.Log)}
	}
	t := timeline{Head: "Load", Stages: len(s.Past[0].stages) <= stagesDrawn}
	if len(s.Past) > 1 {
		t.Head = "The last " + display.Span(last.Sub(first).Round(time.Second))
	}
	t.Text = fmt.Sprintf("Nodes received at most %s from each other, took at most %s of memory, and had logs of at most %s.",
		bytesPerSecond(most.In), size(most.Memory), size(most.Log))
	each := max(1, (momentsKept-1)/(minutesRows-1))
	for i := len(s.Past) - 1; i >= 0; i -= each { // newest first, like incidents
		all := s.Past[i].sum()
		t.Rows = append(t.Rows, timeRow{
			s.Past[i].at.UTC().Format(time.RFC3339), s.Past[i].at.UTC().Format(time.TimeOnly), bytesPerSecond(all.In), size(all.Memory),
			size(all.Log),
		})
	}
	if c, ok := chart.Of(s.pastRows(t.Stages)); ok {
		t.Chart = c.SVG()
	}
	return t
}

// pastRows returns the past as the answer of a query, which a chart can show: a row for each moment, or for each stage of each moment.
func (s *Seen) pastRows(byStage bool) (columns []string, rows [][]protocol.Value, all int) {
	columns = []string{"time (UTC)", "stage", "received, MiB/s", "memory, MiB", "logs, MiB"}
	stages := s.Topology.StagesInOrder()
	add := func(at time.Time, name string, l load) {
		rows = append(rows, []protocol.Value{
			{Kind: protocol.Text, Text: at.UTC().Format("2006-01-02 15:04:05.000")}, {Kind: protocol.Text, Text: name}, mib(l.In),
			mib(float64(l.Memory)), mib(float64(l.Log)),
		})
	}
	for i := range s.Past {
		m := &s.Past[i]
		if !byStage {
			add(m.at, "all stages", m.sum())
			continue
		}
		for k, l := range m.stages {
			add(m.at, stages[k].Name, l)
		}
	}
	return columns, rows, len(rows)
}

// mib returns bytes as MiB, in steps that a picture can show.
func mib(bytes float64) protocol.Value {
	return protocol.Value{Kind: protocol.Float, Float: math.Round(bytes/(1<<20)*1000) / 1000}
}
