package topology

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// claim says who has an address.
type claim struct {
	node NodeID
	kind Kind
	host string
}

// sockets checks the addresses that placement gives out: ports that exist, paths that fit, and no address twice.
func (c *checker) sockets() {
	taken := map[string]claim{}
	full := map[string]bool{} // hosts whose port range was found too short
	for _, n := range c.t.Nodes() {
		i := slices.IndexFunc(c.t.Hosts, func(h Host) bool { return h.Name == n.Host })
		if i < 0 {
			continue
		}
		h := c.t.Hosts[i]
		for _, s := range n.Sockets.List() {
			switch {
			case h.IPC():
				c.pathLength(h, s)
			case c.pastLastPort(h, n, s, full):
			default:
				c.claim(taken, h, claim{n.ID, s.Kind, h.Name}, s)
			}
		}
	}
}

func (c *checker) pathLength(h Host, s NamedEndpoint) {
	for _, end := range []struct{ key, address string }{{"address", s.Dial}, {"bind", s.Bind}} {
		file := strings.TrimPrefix(end.address, "ipc://")
		if len(file) > maxSocketPath {
			c.fail("hosts."+h.Name+"."+end.key, "name a directory with a shorter path, such as one directly below /run or /tmp",
				"the socket %s has a path of %d bytes and %d is the most", file, len(file), maxSocketPath)
		}
	}
}

func (c *checker) pastLastPort(h Host, n Node, s NamedEndpoint, full map[string]bool) bool {
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

// claim enters what others dial, and what the node listens on when that is another address. Addresses that are bound are compared
// among hosts with one address only: 127.0.0.1 on two machines behind two proxies is twice another place.
func (c *checker) claim(taken map[string]claim, h Host, who claim, s NamedEndpoint) {
	keys := []struct{ key, address string }{{"ports", s.Dial}}
	if s.Bind != s.Dial {
		bound := s.Bind
		if h.Bind != h.Address {
			bound += " behind " + h.address(who.node)
		}
		keys = append(keys, struct{ key, address string }{"bind_ports", bound})
	}
	for _, k := range keys {
		first, there := taken[k.address]
		if !there {
			taken[k.address] = who
			continue
		}
		if first == who {
			continue
		}
		c.fail("hosts."+h.Name+"."+k.key, fmt.Sprintf("give host %q another address, or %s that begin above those of host %q", h.Name, k.key, first.host),
			"%s is taken twice, by the %s socket of %s and the %s socket of %s", k.address, first.kind, first.node, who.kind, who.node)
		return
	}
}

// port is the port of "tcp://host:port"; 0 when there is none.
func port(address string) int {
	_, p, err := net.SplitHostPort(strings.TrimPrefix(address, "tcp://"))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(p)
	return n
}
