package topology

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// CheckInternal returns what is wrong with an address for Addresses.Inside: it follows the rules of a host's address in the file. Unix
// sockets are refused, because containers share no directory for them.
func CheckInternal(address string) error {
	if strings.HasPrefix(address, ipcPrefix) {
		return fmt.Errorf("address %q is of unix sockets, which do not reach from container to container; write \"{node}\"", address)
	}
	found := &findings{}
	c := &checker{found: found, at: places{}, invalid: map[string]bool{}}
	c.tcpAddress(Host{Address: address}, "")
	if len(found.list) == 0 {
		return nil
	}
	return fmt.Errorf("%s; %s", found.list[0].What, found.list[0].Fix)
}

// setAddresses fills in the addresses that the file leaves open.
func (r *reader) setAddresses(t *Topology, a Addresses) {
	if a.Inside != "" && a.Local == "" {
		a.Local = Published
	}
	for i := range t.Hosts {
		if h := &t.Hosts[i]; h.Local && a.Local != "" {
			h.Address, h.Bind = a.Local, ""
			h.settle()
		}
	}
	if a.Inside != "" {
		r.setInternal(t, a.Inside)
	}
}

// setInternal gives all hosts an address that is dialled inside, and makes them listen where that address leads, as for a host of the file.
// The addresses that the file tells them to listen on belong to the machine around the containers.
func (r *reader) setInternal(t *Topology, address string) {
	for i := range t.Hosts {
		h := &t.Hosts[i]
		if h.IPC() {
			r.found.add(r.at.of("hosts."+h.Name+".address"), "unix sockets do not reach from container to container",
				`write address = "127.0.0.1" and ports = 5500`)
			continue
		}
		h.Internal, h.Bind = address, address
		if strings.Contains(address, nodeMark) {
			h.Bind = "0.0.0.0"
		}
	}
}

// InternalClient returns the address at which a container of the same network reaches a node as clients do. Clients themselves are outside.
func (t *Topology) InternalClient(n Node) string {
	for _, h := range t.Hosts {
		if h.Name == n.Host && h.Internal != "" {
			return "tcp://" + net.JoinHostPort(h.internal(n.ID), strconv.Itoa(port(n.Sockets.Client.Bind)))
		}
	}
	return n.Sockets.Client.Dial
}
