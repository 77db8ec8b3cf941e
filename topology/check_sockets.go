package topology

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// claim is the owner of an address.
type claim struct {
	node NodeID
	kind Kind
	host int // index of the host
}

type claims struct {
	by   map[string]claim // by address
	said map[string]bool  // pairs of hosts whose ports overlap: each pair is reported once
}

// sockets checks the addresses that placement assigns: ports exist, paths are short enough, and no address occurs twice.
func (c *checker) sockets() {
	if len(c.t.Stages) > len(pipeline) {
		return // some names occur twice and have been refused; the rest of a wrong file may be too large to place
	}
	taken := claims{by: map[string]claim{}, said: map[string]bool{}}
	full := map[string]bool{} // hosts that were reported to have no room: each is reported once
	for _, n := range c.t.All() {
		i := c.t.hostIndex(n)
		if i < 0 {
			continue
		}
		h := c.t.Hosts[i]
		for _, s := range n.Sockets.List() {
			switch {
			case h.IPC():
				c.pathLength(h, s, full)
			case c.portOutOfRange(h, n, s, full):
			default:
				c.claim(taken, claim{n.ID, s.Kind, i}, s)
			}
		}
		if address := c.t.MetricsAddress(n); address != "" {
			c.claimAddress(taken, claim{n.ID, "metrics", i}, "metrics", h.placeOf(n.ID, "tcp://"+address))
		}
	}
}

func (c *checker) pathLength(h Host, s NamedEndpoint, full map[string]bool) {
	for _, end := range []struct{ key, address string }{{"address", s.Dial}, {"bind", s.Bind}} {
		file := strings.TrimPrefix(end.address, "ipc://")
		if len(file) > maxSocketPath && !full[h.Name] {
			full[h.Name] = true
			c.fail("hosts."+h.Name+"."+end.key, "name a directory with a shorter path, such as /run/posta",
				"the socket %s has a path of %d bytes and %d is the most", file, len(file), maxSocketPath)
		}
	}
}

func (c *checker) portOutOfRange(h Host, n Node, s NamedEndpoint, full map[string]bool) bool {
	for _, end := range []struct{ key, address string }{{"ports", s.Dial}, {"bind_ports", s.Bind}} {
		if port(end.address) <= 65535 {
			continue
		}
		if !full[h.Name] {
			full[h.Name] = true
			c.fail("hosts."+h.Name+"."+end.key, fmt.Sprintf("write a lower number, such as %s = 5500", end.key),
				"the ports of host %q end before node %s has its %s socket: the last port is 65535", h.Name, n.ID, s.Kind)
		}
		return true
	}
	return false
}

// claim notes the address that others dial, and the address that the node listens on if that is another one. Addresses to listen on are
// compared only among hosts with the same dialled address: 127.0.0.1 on two machines behind two proxies is two places.
func (c *checker) claim(taken claims, who claim, s NamedEndpoint) {
	h := c.t.Hosts[who.host]
	c.claimAddress(taken, who, "ports", s.Dial)
	if s.Bind == s.Dial {
		return
	}
	bound := s.Bind
	if h.Bind != h.Address {
		bound = h.behind(who.node, bound)
	}
	c.claimAddress(taken, who, "bind_ports", bound)
}

// behind returns the place of an address that is an address of the host's own machine.
func (h Host) behind(id NodeID, address string) string { return address + " behind " + h.internal(id) }

// placeOf returns the place of an address at which metrics are served: 127.0.0.1 on two machines is two places.
func (h Host) placeOf(id NodeID, address string) string {
	at, err := netip.ParseAddrPort(strings.TrimPrefix(address, "tcp://"))
	if err != nil || h.loopbackOnly() || !at.Addr().IsLoopback() && !at.Addr().IsUnspecified() {
		return address
	}
	return h.behind(id, address)
}

func (c *checker) claimAddress(taken claims, who claim, key, address string) {
	first, there := taken.by[address]
	if !there || first == who {
		taken.by[address] = who
		return
	}
	later, earlier := c.t.Hosts[max(who.host, first.host)], c.t.Hosts[min(who.host, first.host)]
	pair := later.Name + " " + earlier.Name
	if taken.said[pair] {
		return
	}
	taken.said[pair] = true
	advice := fmt.Sprintf("write %s at least %d away from the ports of host %q", key, c.t.portsNeeded(), earlier.Name)
	c.fail("hosts."+later.Name+"."+key, advice, "%s is taken twice, by the %s socket of %s and the %s socket of %s", address, first.kind,
		first.node, who.kind, who.node)
}

// portsNeeded returns how many ports all nodes take together: if the first ports of two hosts are that far apart, their ports cannot
// overlap.
func (t *Topology) portsNeeded() int {
	n := 0
	for _, node := range t.All() {
		n += len(node.Sockets.List())
	}
	return n
}

// port returns the port of "tcp://host:port"; 0 if there is none.
func port(address string) int {
	_, p, err := net.SplitHostPort(strings.TrimPrefix(address, "tcp://"))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(p)
	return n
}
