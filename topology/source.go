package topology

import (
	"fmt"
	"strings"
)

// Source writes the topology as a file again, every default filled in and no comment: what the system will really do.
// Parse of it gives the same topology (TestSourceParsesToTheSame, FuzzParse).
func (t *Topology) Source() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[cluster]\nname = %s\ndata = %s\ntransport = %s\n", tomlString(t.Name), tomlString(t.data), tomlString(t.Transport))
	for _, h := range t.Hosts {
		fmt.Fprintf(&b, "\n[hosts.%s]\naddress = %s\nbind = %s\n", h.Name, tomlString(h.Address), tomlString(h.Bind))
		if !h.IPC() {
			fmt.Fprintf(&b, "ports = %d\nbind_ports = %d\n", h.Ports, h.BindPorts)
		}
	}
	for _, s := range t.Stages {
		fmt.Fprintf(&b, "\n[[stage]]\nname = %s\nchain = %s\nreplicas = %d\nhosts = %s\n", tomlString(s.Name), tomlList(s.Chain), s.Replicas, tomlList(s.Hosts))
	}
	for _, e := range t.Edges {
		fmt.Fprintf(&b, "\n[[edge]]\nfrom = %s\nto = %s\nstreams = %q\nsocket = %q\nroute = %q\n", tomlString(e.From), tomlString(e.To), e.Streams, e.Socket, e.Route)
		if e.Key != "" {
			fmt.Fprintf(&b, "key = %q\n", e.Key)
		}
	}
	section := ""
	for _, s := range settings {
		if s.section == "cluster" {
			continue // above
		}
		if s.section != section {
			section = s.section
			fmt.Fprintf(&b, "\n[%s]\n", section)
		}
		fmt.Fprintf(&b, "%s = %s\n", s.name, s.literal(s.text(t)))
	}
	return b.String()
}
