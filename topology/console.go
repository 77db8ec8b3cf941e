package topology

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

const consoleExample = "127.0.0.1:8080"

var errConsoleAddress = errors.New("it is no IPv4 address with a port, such as " + consoleExample)

// checkConsole accepts "" and IP:PORT. checker.console decides which addresses are right, because that depends on other settings.
func checkConsole(text string) error {
	if text == "" {
		return nil
	}
	if at, err := netip.ParseAddrPort(text); err != nil || at.Port() == 0 || !at.Addr().Is4() {
		return fmt.Errorf("%q: %w", text, errConsoleAddress)
	}
	return nil
}

// ConsoleAddress is the IP:PORT at which browsers find the console of a medic; "" if it has none. medic-1 has the port in the file, and
// each further medic the next port. No two medics have the same port, even on different hosts, so a browser on another machine can reach
// all of them through ssh -L at the same addresses.
func (t *Topology) ConsoleAddress(medic Node) string {
	first, err := netip.ParseAddrPort(t.Medics.Console)
	if err != nil || medic.Stage != medicName {
		return ""
	}
	return netip.AddrPortFrom(first.Addr(), first.Port()+uint16(medic.Index-1)).String()
}

// ConsoleName is what the console of a medic is called where it has a container of its own: medic-1-console. No node has such a name, since
// theirs end with a number.
func ConsoleName(medic Node) string { return string(medic.ID) + "-console" }

// ConsoleOf returns the medic of a console's name, if it is one.
func ConsoleOf(name string) (medic NodeID, ok bool) {
	of, ok := strings.CutSuffix(name, "-console")
	return NodeID(of), ok
}

// ConsoleDir is the directory below a topology's data in which the consoles of a host keep their secret. In containers it is a volume that
// they share.
const ConsoleDir = "console"

// ConsolePort is the port of ConsoleAddress, 0 for none.
func (t *Topology) ConsolePort(medic Node) int { return port(t.ConsoleAddress(medic)) }

// console checks where medics serve the console. Its pages and cookies are not encrypted, so they stay on the machine.
func (c *checker) console() {
	const at = "medics.console"
	first, err := netip.ParseAddrPort(c.t.Medics.Console)
	if err != nil || c.invalid[at] || c.invalid["medics.replicas"] || len(c.t.Stages) > len(pipeline) {
		return
	}
	n := c.t.Medics.Replicas
	switch {
	case !first.Addr().IsLoopback():
		c.fail(at, "write console = "+strconv.Quote(consoleExample)+", and reach it from elsewhere with ssh -L 8080:127.0.0.1:8080 HOST",
			"console = %q is an address that other machines may reach, and the console's pages are not encrypted", c.t.Medics.Console)
		return
	case n == 0:
		c.fail(at, "write replicas = 3, or leave console out", "console = %q and replicas = 0: there is no medic that could serve it",
			c.t.Medics.Console)
		return
	case int(first.Port())+n-1 > 65535:
		c.fail(at, "write a lower port", "the %d medics need ports from %d upward, which end at 65535", n, first.Port())
		return
	}
	for _, m := range c.t.MedicNodes() {
		if by := c.boundBy(m); by != "" {
			c.fail(at, "write another port, such as 8080", "%s is taken twice, by the %s and the console of %s", c.t.ConsoleAddress(m), by, m.ID)
			return
		}
	}
}

// boundBy names what else listens at the console's address of a medic; "" if nothing does.
func (c *checker) boundBy(medic Node) string {
	address := "tcp://" + c.t.ConsoleAddress(medic)
	all := fmt.Sprintf("tcp://0.0.0.0:%d", c.t.ConsolePort(medic)) // every address of a machine
	for _, n := range c.t.All() {
		for _, s := range n.Sockets.List() {
			if s.Dial == address || s.Bind == address || s.Bind == all && n.Host == medic.Host {
				return string(s.Kind) + " socket of " + string(n.ID)
			}
		}
		if metrics := c.t.MetricsAddress(n); "tcp://"+metrics == address && c.sameMachine(n, medic) {
			return "metrics of " + string(n.ID)
		}
	}
	return ""
}

// sameMachine reports whether two processes may be on one machine: on one host, or on hosts that only that machine can reach.
func (c *checker) sameMachine(a, b Node) bool {
	i, j := c.t.hostIndex(a), c.t.hostIndex(b)
	return i == j || i >= 0 && j >= 0 && c.t.Hosts[i].loopbackOnly() && c.t.Hosts[j].loopbackOnly()
}
