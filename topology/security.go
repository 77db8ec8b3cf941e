package topology

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"posta.dev/posta/security"
)

// Security decides how a cluster keeps strangers out.
type Security struct {
	// Insecure lets a cluster listen beyond its own machine without keys (S2). It then obeys everybody who can reach a port.
	Insecure bool
	// Keys is the operator's directory, where posta key keeps the CA and all certificates, as written in the file. Topology.KeysDir is its
	// absolute path.
	Keys string
	// TrustBroker allows the transport's broker to read frames, and to forge them (S9).
	TrustBroker bool
	// OpenMetrics permits metrics at addresses that other machines reach (S2). Metrics ask for no key.
	OpenMetrics bool
}

// Client is a user's program that the cluster admits.
type Client struct {
	Name string
	Key  security.Fingerprint
	Role security.Role // Submit, Watch or Operate
}

// TrustedClients returns the clients in the form of package security.
func (t *Topology) TrustedClients() security.Clients {
	trusted := security.Clients{}
	for _, c := range t.Clients {
		trusted[c.Key] = security.Identity{Role: c.Role, Name: c.Name}
	}
	return trusted
}

var clientRoles = []string{string(security.Submit), string(security.Watch), string(security.Operate)}

var errNoDirectory = errors.New("it is empty, and a directory is wanted")

func checkDirectory(text string) error {
	if strings.TrimSpace(text) == "" {
		return errNoDirectory
	}
	return nil
}

// clients reads [clients]: NAME = {key = "…", role = "…"}, or a section [clients.NAME].
func (r *reader) clients(t *Topology, v *value) {
	if v == nil {
		return
	}
	for _, f := range v.fields {
		if f.value.kind != kindTable {
			r.found.add(f.at, fmt.Sprintf("clients.%s is %s", bareKey(f.name), f.value.kind),
				`write NAME = {key = "ed25519:…", role = "submit"}, as posta key new prints it`)
			continue
		}
		s := r.section("clients."+f.name, "[clients."+bareKey(f.name)+"]", f.value)
		r.at["clients."+f.name] = f.at
		c := Client{Name: f.name, Key: security.Fingerprint(s.str("key", "", "ed25519:…")),
			Role: security.Role(s.word("role", "", clientRoles))}
		s.done()
		t.Clients = append(t.Clients, c)
	}
}

// clients checks the clients that could be read.
func (c *checker) clients() {
	first := map[security.Fingerprint]string{}
	for _, client := range c.t.Clients {
		at := "clients." + client.Name
		if err := security.ValidName(client.Name); err != nil {
			c.fail(at, "write 1 to 63 of a-z, 0-9 and -, with no - at either end", "%q is not a name for a client", client.Name)
		}
		if _, given := c.at[at+".role"]; !given {
			c.fail(at, "write role = one of "+quoteAll(clientRoles), "client %q has no role", client.Name)
		}
		_, given := c.at[at+".key"]
		_, err := security.ParseFingerprint(string(client.Key))
		before := first[client.Key]
		switch {
		case !given:
			c.fail(at, "write key = the fingerprint that posta key new prints", "client %q has no key", client.Name)
		case c.invalid[at+".key"]:
		case err != nil:
			c.fail(at+".key", "write ed25519: and 44 characters of base64, as posta key new prints it", "key = %q is not a public key", client.Key)
		case before != "":
			c.fail(at+".key", "make a key for each client with posta key new", "clients %q and %q have one key", before, client.Name)
		default:
			first[client.Key] = client.Name
		}
	}
}

// Exposed returns the hosts whose nodes listen where other machines may reach them, as far as the file shows. Without keys, these nodes
// obey everybody who reaches them.
func (t *Topology) Exposed() []Host {
	var exposed []Host
	for _, h := range t.Hosts {
		if t.uses(h) && !h.listensHere() {
			exposed = append(exposed, h)
		}
	}
	return exposed
}

// OverTCP reports whether any node or medic listens on something other than unix sockets. Only then the cluster's sockets can use keys.
func (t *Topology) OverTCP() bool {
	return slices.ContainsFunc(t.All(), func(n Node) bool { return !n.Sockets.Control.Unix() })
}

// listensHere reports whether only processes of the same machine can reach the addresses that the host's nodes listen on. For containers,
// these are the addresses at which their ports are published.
func (h Host) listensHere() bool {
	if h.Local || h.IPC() || h.Internal != "" {
		return h.loopbackOnly()
	}
	ip, err := netip.ParseAddr(h.Bind)
	return h.Bind == "localhost" || err == nil && ip.IsLoopback() || h.Address == nodeMark
}
