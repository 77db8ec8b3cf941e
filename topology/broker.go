package topology

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// ErrLocalBroker is wrapped by BrokerForContainers if the broker's address is one that means the container itself.
var ErrLocalBroker = errors.New("containers do not reach the broker")

// brokerHost returns the host in the broker's address, "" if there is no broker.
func (t *Topology) brokerHost() string {
	u, err := url.Parse(t.BrokerURL())
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// BrokerIsLocal reports whether the broker's address means, for each machine, that machine itself.
func (t *Topology) BrokerIsLocal() bool {
	host := t.brokerHost()
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// BrokerHasName reports whether the broker's host is given by a name, which has to be resolved.
func (t *Topology) BrokerHasName() bool {
	host := t.brokerHost()
	_, err := netip.ParseAddr(host)
	return host != "" && err != nil
}

// broker refuses a broker on loopback for nodes on several machines: each would dial its own machine, and the pipeline would stand still.
func (c *checker) broker() {
	if !c.t.BrokerIsLocal() {
		return
	}
	var used []string
	for _, h := range c.t.Hosts {
		if c.t.uses(h) && !h.loopbackOnly() {
			used = append(used, h.Address)
		}
	}
	slices.Sort(used)
	used = slices.Compact(used)
	if len(used) > 1 || len(used) == 1 && strings.Contains(used[0], nodeMark) {
		at := c.t.Transport + ".url"
		if _, given := c.at[at]; !given {
			at = "cluster.transport"
		}
		c.fail(at, fmt.Sprintf("in [%s] write a url that all nodes can dial", c.t.Transport),
			"the broker is at %s, which is another machine for each host (%s)", c.t.brokerHost(), strings.Join(used, ", "))
	}
}

// BrokerForContainers refuses a broker that a network of containers cannot reach.
func (t *Topology) BrokerForContainers() error {
	if !t.BrokerIsLocal() {
		return nil
	}
	return fmt.Errorf("%w at %s: to each of them that is itself; in [%s] write the url with an address of the machine, or with the name of "+
		"a container of their network",
		ErrLocalBroker, t.brokerHost(), t.Transport)
}
