package topology

import (
	"net/netip"
	"slices"
	"strconv"
)

const metricsExample = "127.0.0.1:9100"

// MetricsAddress returns the IP:PORT at which a node or medic serves its metrics; "" if it serves none. The processes of a host take ports
// from the one in the file upward: nodes in file order, then medics.
func (t *Topology) MetricsAddress(n Node) string {
	i := slices.IndexFunc(t.Hosts, func(h Host) bool { return h.Name == n.Host })
	if i < 0 || t.Hosts[i].Metrics == "" {
		return ""
	}
	first, err := netip.ParseAddrPort(t.Hosts[i].Metrics)
	if err != nil {
		return "" // only in a file that is refused
	}
	on := t.on(n.Host)
	at := slices.IndexFunc(on, func(o Node) bool { return o.ID == n.ID })
	if at < 0 {
		return ""
	}
	return netip.AddrPortFrom(first.Addr(), first.Port()+uint16(at)).String()
}

// on returns the nodes of a host, and then its medics.
func (t *Topology) on(host string) []Node {
	return slices.DeleteFunc(t.All(), func(n Node) bool { return n.Host != host })
}

// metrics checks where the processes of a host serve their metrics. Whoever scrapes needs no key, so the file must permit addresses that
// other machines reach.
func (c *checker) metrics(h Host, at string) {
	if _, given := c.at[at]; !given || c.invalid[at] {
		return
	}
	first, err := netip.ParseAddrPort(h.Metrics)
	count := len(c.t.on(h.Name))
	switch {
	case err != nil || first.Port() == 0:
		c.fail(at, "write metrics = "+strconv.Quote(metricsExample)+", an IP address of the host and the port of its first process",
			"metrics = %q is not an address", h.Metrics)
	case int(first.Port())+count-1 > 65535:
		c.fail(at, "write a lower port", "the %d processes of host %s need ports from %d upward, which end at 65535", count, h.Name, first.Port())
	case !first.Addr().IsLoopback() && !c.t.Security.OpenMetrics && !c.invalid["security.open_metrics"]:
		c.fail(at,
			"write an address like "+metricsExample+"; or say open_metrics = true below [security]: then whoever reaches the ports reads names, "+
				"rates and sizes, and no row",
			"metrics = %q is an address that other machines may reach, and metrics ask for no key", h.Metrics)
	}
}
