package topology

import "posta.dev/posta/security"

// View is a topology with everything derived from it, for `--json` and other programs. Sizes and times are written as in the file. Names of
// fields are part of the interface: new fields may be added, but no field changes its meaning.
type View struct {
	Name        string         `json:"name"`
	File        string         `json:"file"`
	Data        string         `json:"data"`
	Transport   string         `json:"transport"`
	Broker      map[string]any `json:"broker,omitempty"` // the transport's section, without passwords
	Hosts       []HostView     `json:"hosts"`
	Stages      []StageView    `json:"stages"`
	Edges       []EdgeView     `json:"edges"`
	Nodes       []NodeView     `json:"nodes"`
	MedicNodes  []NodeView     `json:"medic_nodes"`  // without a chain
	EntryPoints []string       `json:"entry_points"` // where clients upload
	Outputs     []string       `json:"outputs"`      // where clients fetch results
	Medics      map[string]any `json:"medics"`
	Security    map[string]any `json:"security"`
	Clients     []ClientView   `json:"clients,omitempty"`
	Limits      map[string]any `json:"limits"`
}

// HostView is a host; ports are left out with unix sockets.
type HostView struct {
	Name      string `json:"name"`
	Address   string `json:"address"`
	Bind      string `json:"bind"`
	Ports     int    `json:"ports,omitempty"`
	BindPorts int    `json:"bind_ports,omitempty"`
	Metrics   string `json:"metrics,omitempty"` // of the host's first process
}

// ClientView is a client that is let in; its key is public.
type ClientView struct {
	Name string               `json:"name"`
	Key  security.Fingerprint `json:"key"`
	Role security.Role        `json:"role"`
}

// StageView is a stage.
type StageView struct {
	Name     string   `json:"name"`
	Chain    []Role   `json:"chain"`
	Replicas int      `json:"replicas"`
	Hosts    []string `json:"hosts"`
}

// EdgeView is an edge; Links is senders times receivers.
type EdgeView struct {
	Name    string  `json:"name"`
	From    string  `json:"from"`
	To      string  `json:"to"`
	Streams Streams `json:"streams"`
	Socket  Socket  `json:"socket"`
	Route   Route   `json:"route"`
	Key     Key     `json:"key,omitempty"`
	Links   int     `json:"links"`
}

// NodeView is a node; Sockets contains the sockets that it has.
type NodeView struct {
	ID      NodeID            `json:"id"`
	Stage   string            `json:"stage"`
	Chain   []Role            `json:"chain,omitempty"`
	Index   int               `json:"index"`
	Of      int               `json:"of"`
	Host    string            `json:"host"`
	Data    string            `json:"data"`
	Sockets map[Kind]Endpoint `json:"sockets"`
	Metrics string            `json:"metrics,omitempty"` // IP:PORT of its metrics; left out: none
}

// View derives everything once.
func (t *Topology) View() View {
	v := View{
		Name: t.Name, File: t.File, Data: t.DataDir, Transport: t.Transport,
		EntryPoints: t.EntryPoints(), Outputs: t.Outputs(),
		Medics: t.settingsView("medics"), Security: t.settingsView("security"), Limits: t.settingsView("limits"),
	}
	if t.Transport != ZMQ {
		v.Broker = t.settingsView(t.Transport)
		v.Broker["url"] = t.BrokerURL()
	}
	for _, h := range t.Hosts {
		host := HostView{Name: h.Name, Address: h.Address, Bind: h.Bind, Metrics: h.Metrics}
		if !h.IPC() {
			host.Ports, host.BindPorts = h.Ports, h.BindPorts
		}
		v.Hosts = append(v.Hosts, host)
	}
	for _, c := range t.Clients {
		v.Clients = append(v.Clients, ClientView(c))
	}
	for _, s := range t.Stages {
		v.Stages = append(v.Stages, StageView(s))
	}
	for _, e := range t.Edges {
		v.Edges = append(v.Edges, EdgeView{e.Name(), e.From, e.To, e.Streams, e.Socket, e.Route, e.Key, t.links(e)})
	}
	for _, n := range t.Nodes() {
		v.Nodes = append(v.Nodes, n.view(t.MetricsAddress(n)))
	}
	for _, n := range t.MedicNodes() {
		v.MedicNodes = append(v.MedicNodes, n.view(t.MetricsAddress(n)))
	}
	return v
}

func (n Node) view(metrics string) NodeView {
	v := NodeView{ID: n.ID, Stage: n.Stage, Chain: n.Chain, Index: n.Index, Of: n.Of, Host: n.Host, Data: n.DataDir,
		Sockets: map[Kind]Endpoint{}, Metrics: metrics}
	for _, s := range n.Sockets.List() {
		v.Sockets[s.Kind] = s.Endpoint
	}
	return v
}

func (t *Topology) links(e Edge) int { return len(t.Senders(e)) * len(t.Receivers(e)) }

func (t *Topology) settingsView(section string) map[string]any {
	out := map[string]any{}
	for _, s := range settings {
		if s.section != section {
			continue
		}
		switch f := s.field(t).(type) {
		case *int:
			out[s.name] = *f
		case *bool:
			out[s.name] = *f
		default:
			out[s.name] = s.text(t)
		}
	}
	return out
}
