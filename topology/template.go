package topology

import (
	"cmp"
	"strconv"
)

// pageData is the content of topology.toml.tmpl. Every string is TOML already.
type pageData struct {
	Name, Data       string
	Address, Bind    string // "" if left out
	Ports, BindPorts string // "" if they are the default, or have no meaning
	Stages           []pageStage
	Hops             []pagePair
	SplitParsers     bool
	Roots            string // "" for none
	values           map[string]string
}

type pageStage struct{ Name, Title, Chain, Replicas string }

type pagePair struct {
	Why   string
	Edges []pageEdge
}

type pageEdge struct{ From, To, Streams, Socket, SocketWhy, Route, Key string }

// Value is a setting as TOML, and Range its default and range. Both come from the settings table, so the comments of the page are always
// right.
func (p pageData) Value(key string) string { return p.values[key] }

// Range returns the setting's default and range in words.
func (p pageData) Range(key string) string {
	for _, s := range settings {
		if s.key() == key {
			return s.span()
		}
	}
	panic("topology: the page names the unknown setting " + key)
}

func (v Variant) page(stages []Stage, values map[string]string) pageData {
	p := pageData{
		Name: tomlString(cmp.Or(v.Name, "posta")), Data: tomlString(cmp.Or(v.Dir, "cluster")),
		SplitParsers: v.SplitParsers, values: values,
	}
	switch {
	case v.IPCDir != "":
		p.Address = tomlString(ipcPrefix + v.IPCDir)
	case v.Address != "":
		p.Address = tomlString(v.Address)
	}
	if v.IPCDir == "" {
		p.Ports = strconv.Itoa(cmp.Or(v.Ports, 5500))
	}
	if v.Bind != "" {
		p.Bind = tomlString(v.Bind)
	}
	if v.BindPorts != 0 {
		p.BindPorts = strconv.Itoa(v.BindPorts)
	}
	if len(v.Roots) > 0 {
		p.Roots = tomlList(v.Roots)
	}
	for i, s := range stages {
		p.Stages = append(p.Stages, pageStage{Name: tomlString(s.Name), Title: stageTitle(s), Chain: tomlList(s.Chain),
			Replicas: strconv.Itoa(s.Replicas)})
		if i > 0 {
			p.Hops = append(p.Hops, stagePair{stages[i-1], s}.page())
		}
	}
	return p
}

func (h stagePair) page() pagePair {
	edges := h.edges()
	out := pagePair{Why: h.reason(edges[0])}
	if h.split() {
		out.Why += ";\n# " + h.reason(edges[1])
	}
	for _, e := range edges {
		pe := pageEdge{From: tomlString(e.From), To: tomlString(e.To), Socket: tomlString(string(e.Socket)), Route: tomlString(string(e.Route))}
		if e.Streams != AllStreams {
			pe.Streams = tomlString(string(e.Streams))
		}
		if e.Key != "" {
			pe.Key = tomlString(string(e.Key))
		}
		out.Edges = append(out.Edges, pe)
	}
	return out
}

// stageTitle returns what a stage does, for the page.
func stageTitle(s Stage) string {
	if s.holds(Input) && s.holds(Joiner) {
		return "Takes CSV from clients, cuts it down to the columns the analysis needs, keeps the reference tables, and folds what\n# is " +
			"read, so that only tables reach a log or a socket. There is one: others would lack its reference tables."
	}
	if s.holds(Input) && s.holds(Parser) {
		return "Takes CSV from clients and cuts it down to the columns the analysis needs, so that only these reach a log or a\n# socket. " +
			"Each replica is one more entry point for clients."
	}
	switch s.First() {
	case Input:
		return "Takes CSV from clients and logs it as it came. Each replica is one more entry point for clients."
	case Parser:
		return "Cuts CSV down to the columns the analysis needs. No state: as many as there is CSV to read."
	case Joiner:
		return "Keeps the reference tables, enriches facts, and folds each batch. Every replica holds all reference tables: more\n# replicas " +
			"are more speed and more memory."
	case Aggregator:
		return "Keeps the groups, each replica its part of the keys: more replicas are less memory in each."
	case Reducer:
		return "Merges the parts into final rows. One session has one reducer: more replicas help many sessions, never one."
	}
	return "Keeps results and answers clients. Every replica has every result: more replicas survive more losses."
}
