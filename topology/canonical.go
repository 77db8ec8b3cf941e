package topology

import (
	"fmt"
	"slices"
	"strings"
)

// Canonical returns the topology as text: every setting, no comment, and nothing that only posta deploy uses. Two files have the same
// canonical text if nodes cannot distinguish them; Parse reads it back. change, if it is not nil, may change each host before it is
// written. The section of the broker, which may contain a password, is included if frames travel over a broker.
func (t *Topology) Canonical(change func(Host) Host) string {
	sections := []string{"security", "medics", "limits"}
	if t.Transport != ZMQ {
		sections = append(sections, t.Transport)
	}
	return t.canonical(change, sections...)
}

func (t *Topology) canonical(change func(Host) Host, sections ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[cluster]\nname = %s\ndata = %s\n", tomlString(t.Name), tomlString(t.data))
	t.writeSettings(&b, "cluster")
	for _, h := range t.Hosts {
		if change != nil {
			h = change(h)
		}
		fmt.Fprintf(&b, "\n[hosts.%s]\n", bareKey(h.Name))
		if !h.Local {
			fmt.Fprintf(&b, "address = %s\nbind = %s\n", tomlString(h.Address), tomlString(h.Bind))
		}
		if h.Local || !h.IPC() {
			fmt.Fprintf(&b, "ports = %d\nbind_ports = %d\n", h.Ports, h.BindPorts)
		}
		if h.Roots != nil {
			fmt.Fprintf(&b, "roots = %s\n", tomlList(h.Roots))
		}
		if h.Metrics != "" {
			fmt.Fprintf(&b, "metrics = %s\n", tomlString(h.Metrics))
		}
	}
	for _, s := range t.Stages {
		fmt.Fprintf(&b, "\n[[stage]]\nname = %s\nchain = %s\nreplicas = %d\nhosts = %s\n", tomlString(s.Name), tomlList(s.Chain), s.Replicas,
			tomlList(s.Hosts))
	}
	for _, e := range t.Edges {
		fmt.Fprintf(&b, "\n[[edge]]\nfrom = %s\nto = %s\nstreams = %s\nsocket = %s\nroute = %s\n",
			tomlString(e.From), tomlString(e.To), tomlString(string(e.Streams)), tomlString(string(e.Socket)), tomlString(string(e.Route)))
		if e.Key != "" {
			fmt.Fprintf(&b, "key = %s\n", tomlString(string(e.Key)))
		}
	}
	for _, client := range t.Clients {
		fmt.Fprintf(&b, "\n[clients.%s]\nkey = %s\nrole = %s\n", bareKey(client.Name), tomlString(string(client.Key)),
			tomlString(string(client.Role)))
	}
	if t.Roots != nil {
		fmt.Fprintf(&b, "\n[data]\nroots = %s\n", tomlList(t.Roots))
	}
	for _, section := range sections {
		fmt.Fprintf(&b, "\n[%s]\n", section)
		t.writeSettings(&b, section)
	}
	return b.String()
}

func (t *Topology) writeSettings(b *strings.Builder, section string) {
	for _, s := range settings {
		// if a setting may be empty and is empty, it is left out, so that texts from before the setting existed stay the same
		if text := s.text(t); s.section == section && (text != "" || s.def != "") {
			fmt.Fprintf(b, "%s = %s\n", s.name, s.literal(text))
		}
	}
}

// ReadAtStart returns the canonical text of the settings that a process reads only when it starts: all except [clients]. The text may
// contain passwords of brokers, so use it only for digests (S6).
func (t *Topology) ReadAtStart() string {
	same := *t
	same.Clients = nil
	return same.canonical(nil, "security", "medics", "limits", ViaRabbitMQ, ViaNATS)
}

// Shape returns the part of the canonical text on which all nodes have to agree while a session runs: which nodes there are, where they
// are, and how they are connected. All other settings may differ from node to node for a while, so they may change while sessions run.
func (t *Topology) Shape() string {
	same := *t
	same.Limits, same.Medics, same.Security, same.Clients = Limits{}, Medics{}, Security{}, nil
	same.Roots, same.Hosts = nil, slices.Clone(t.Hosts)
	for i := range same.Hosts {
		same.Hosts[i].Roots, same.Hosts[i].Metrics = nil, ""
	}
	for _, s := range settings {
		text := s.def
		switch s.key() {
		case "limits.frame", "cluster.transport", "security.insecure": // a node must accept each connection and frame of another one
			text = s.text(t)
		}
		_ = s.set(&same, text) // both values are in range
	}
	return same.canonical(nil, "security", "medics", "limits")
}

// Data returns the data directory as the file gives it, which may be relative.
func (t *Topology) Data() string { return t.data }
