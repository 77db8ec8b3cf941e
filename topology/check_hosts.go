package topology

import (
	"fmt"
	"net/netip"
	"path"
	"strings"

	"posta.dev/posta/internal/lazy"
)

// maxSocketPath, in bytes, is the shortest limit among the supported systems: macOS has 104 with a zero at the end, Linux 108.
const maxSocketPath = 103

func (c *checker) hosts() {
	if len(c.t.Hosts) == 0 && !c.invalid["hosts"] {
		c.fail("hosts", "write [hosts.local], which is this machine", "there is no host")
	}
	for _, h := range c.t.Hosts {
		at := "hosts." + h.Name
		if !nameForm().MatchString(h.Name) {
			c.fail(at, nameRule, "%q is not a name for a host", h.Name)
		}
		c.engine(h, at)
		c.metrics(h, at+".metrics")
		switch {
		case h.Local:
			c.localHost(at)
		case h.IPC():
			c.ipcHost(h, at)
		default:
			c.tcpHost(h, at)
		}
	}
	c.reachable()
}

// localHost refuses settings that need an address. It accepts ports, because containers publish them.
func (c *checker) localHost(at string) {
	if _, given := c.at[at+".bind"]; given {
		c.fail(at+".bind", `write address, which is what others dial, beside it, or leave bind out`,
			"bind means nothing without address: such a host has unix sockets, on this machine")
	}
}

func (c *checker) ipcHost(h Host, at string) {
	c.socketDir(at+".address", "address", h.Address)
	switch {
	case !strings.HasPrefix(h.Bind, ipcPrefix) && h.Bind != "":
		c.fail(at+".bind", `write bind = "ipc:DIR", or leave it out`, "bind = %q does not fit an address of unix sockets", h.Bind)
	case h.Bind != h.Address:
		c.socketDir(at+".bind", "bind", h.Bind)
	}
	for _, key := range []string{"ports", "bind_ports"} {
		if _, given := c.at[at+"."+key]; given {
			c.fail(at+"."+key, "remove "+key, "unix sockets have no ports")
		}
	}
}

func (c *checker) socketDir(at, key, address string) {
	dir := strings.TrimPrefix(address, ipcPrefix)
	if path.IsAbs(dir) && path.Clean(dir) == dir && !strings.ContainsAny(dir, "\x00\n") {
		return
	}
	c.fail(at, fmt.Sprintf(`write %s = "ipc:/run/posta": an absolute directory without "..", "." or a slash at its end`, key),
		"%s = %q is not a directory for sockets", key, address)
}

var dnsForm = lazy.Regexp(`^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*$`)

func (c *checker) tcpHost(h Host, at string) {
	if !c.invalid[at+".address"] {
		c.tcpAddress(h, at+".address")
	}
	if h.Bind == h.Address || h.Bind == "0.0.0.0" {
		return
	}
	if _, err := netip.ParseAddr(h.Bind); err != nil {
		c.fail(at+".bind", `write an IP address of the machine, "0.0.0.0" for all of them, or leave it out`, "bind = %q is not an IP address",
			h.Bind)
	}
}

// tcpAddress recognises common mistakes in addresses.
func (c *checker) tcpAddress(h Host, at string) {
	sample := strings.ReplaceAll(h.Address, nodeMark, "node-1")
	ip, err := netip.ParseAddr(sample)
	switch {
	case err == nil && ip.IsUnspecified():
		c.fail(at, fmt.Sprintf(`write what others dial, and bind = %q beside it`, h.Address), "nobody can dial address %q", h.Address)
	case err == nil:
	case strings.Contains(sample, "://"):
		c.fail(at, `write the bare name or IP address: address = "127.0.0.1", ports = 5500`, "address = %q holds a protocol", h.Address)
	case portForm().MatchString(sample):
		i := strings.LastIndexByte(h.Address, ':')
		c.fail(at, fmt.Sprintf("write address = %q and ports = %s", strings.Trim(h.Address[:i], "[]"), h.Address[i+1:]),
			"address = %q holds a port", h.Address)
	case len(sample) > 253 || !dnsForm().MatchString(sample):
		c.fail(at, `write an IP address without brackets, a DNS name, or "ipc:DIR"`, "address = %q is neither an IP address nor a DNS name",
			h.Address)
	}
}

var portForm = lazy.Regexp(`^(\[.*\]|[^:]*):[0-9]+$`)

// reachable refuses hosts that only their own machine can dial, if other hosts are on other machines: there, 127.0.0.1 is another machine,
// and the only symptom would be a pipeline that makes no progress. Hosts that no stage names do not count.
func (c *checker) reachable() {
	var own, other *Host
	for i := range c.t.Hosts {
		h := &c.t.Hosts[i]
		if h.Address == "" || h.Internal != "" || !c.t.uses(*h) {
			continue
		}
		if h.loopbackOnly() && own == nil {
			own = h
		}
		if !h.loopbackOnly() && other == nil {
			other = h
		}
	}
	if own != nil && other != nil {
		at := "at " + own.Address + " only from its own machine"
		if own.Local {
			at = "only from its own machine, because it has no address"
		}
		c.fail("hosts."+own.Name+".address", "write an address that all hosts can dial",
			"host %q is reached %s, and host %q is at %s", own.Name, at, other.Name, other.Address)
	}
}
