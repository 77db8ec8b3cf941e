package topology

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

// Deploy is what `posta deploy` has to know about a host: where its Docker Engine is, and how containers run there. Nodes never read it.
type Deploy struct {
	// Engine is "unix:///path", "tcp://host:port" or "ssh://user@host". Default: the engine that DOCKER_HOST names, or else this
	// machine's.
	Engine string
	// CA, Cert and Key are PEM files for tcp. Their paths are absolute if Load has read the topology.
	CA, Cert, Key string
	// Socket is where the engine listens on the host itself. Medics connect to it. Default: the path of a unix engine, otherwise
	// /var/run/docker.sock.
	Socket string
	// Network is "bridge" (default), in which ports are published, or "host", in which containers use the host's own network. host has no cost
	// per packet; bridge keeps containers away from the machine's other ports.
	Network string
	// Memory is the most that one container may use, 64MiB to 16384GiB, default 1GiB. A container that needs more is killed, and medics start
	// it again.
	Memory Size
}

const (
	defaultSocket = "/var/run/docker.sock"
	leastMemory   = 64 * MiB
	mostMemory    = 16384 * giB
	// networkBridge and NetworkHost are the values of hosts.NAME.network.
	networkBridge = "bridge"
	NetworkHost   = "host"
)

// deploy reads the settings of [hosts.NAME] that are for posta deploy.
func (r *reader) deploy(s *section) Deploy {
	d := Deploy{
		Engine:  s.str("engine", "", "unix:///var/run/docker.sock"),
		CA:      s.str("engine_ca", "", "ca.pem"),
		Cert:    s.str("engine_cert", "", "cert.pem"),
		Key:     s.str("engine_key", "", "key.pem"),
		Socket:  s.str("engine_socket", "", defaultSocket),
		Network: s.word("network", networkBridge, []string{networkBridge, NetworkHost}),
		Memory:  s.size("memory", giB, leastMemory, mostMemory),
	}
	if d.Socket == "" {
		d.Socket = defaultSocket
		if file, ok := strings.CutPrefix(d.Engine, "unix://"); ok {
			d.Socket = file
		}
	}
	return d
}

// size reads a number of bytes in a range. It returns def if the setting is missing or wrong.
func (s *section) size(key string, def, least, most Size) Size {
	text := s.str(key, def.String(), def.String())
	if text == "" {
		return def
	}
	n, err := ParseSize(text)
	want := fmt.Sprintf("write %s = %q, or another value from %s to %s", key, def, least, most)
	switch {
	case err != nil:
		s.r.found.add(s.v.get(key).value.at, fmt.Sprintf("%s: %v", key, err), want)
	case n < least || n > most:
		s.r.found.add(s.v.get(key).value.at, fmt.Sprintf("%s = %q is outside %s to %s", key, text, least, most), want)
	default:
		return n
	}
	return def
}

// resolveKeys resolves the files of hosts against the topology file's directory.
func (t *Topology) resolveKeys(dir string) {
	for i := range t.Hosts {
		d := &t.Hosts[i].Deploy
		for _, file := range []*string{&d.CA, &d.Cert, &d.Key} {
			if *file != "" && !filepath.IsAbs(*file) {
				*file = filepath.Join(dir, *file)
			}
		}
	}
}

const engineForms = `write "unix:///var/run/docker.sock", "tcp://host:2376" or "ssh://user@host"`

// engine checks the address of a host's engine.
func (c *checker) engine(h Host, at string) {
	d := h.Deploy
	if !c.invalid[at+".engine_socket"] && !path.IsAbs(d.Socket) {
		c.fail(at+".engine_socket", "write the path of the engine's socket on the host", "engine_socket = %q is not an absolute path", d.Socket)
	}
	u, err := url.Parse(d.Engine)
	if err != nil {
		c.fail(at+".engine", engineForms, "engine = %q is not an address of a Docker Engine", d.Engine)
		return
	}
	secured := 0
	for _, file := range []string{d.CA, d.Cert, d.Key} {
		if file != "" {
			secured++
		}
	}
	switch {
	case d.Engine == "" || u.Scheme == "unix" && u.Host == "" && path.IsAbs(u.Path) || u.Scheme == "ssh" && sshForm(u):
		if secured > 0 {
			c.fail(at+".engine", "remove engine_ca, engine_cert and engine_key", "only an engine at tcp:// needs keys")
		}
	case u.Scheme == "tcp" && u.Port() != "" && u.Hostname() != "" && u.Path == "" && u.User == nil:
		c.tcpEngine(u, secured, at)
	default:
		c.fail(at+".engine", engineForms, "engine = %q is not an address of a Docker Engine", d.Engine)
	}
}

// sshForm refuses addresses that the ssh program would take for a flag.
func sshForm(u *url.URL) bool {
	_, secret := u.User.Password()
	return u.Hostname() != "" && u.Hostname()[0] != '-' && !strings.HasPrefix(u.User.Username(), "-") && !secret &&
		(u.Path == "" || u.Path == "/") && u.RawQuery == ""
}

// tcpEngine demands keys, because a client of an engine is root on its host. Only an engine on this machine may be used without TLS.
func (c *checker) tcpEngine(u *url.URL, secured int, at string) {
	ip, err := netip.ParseAddr(u.Hostname())
	own := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	if secured == 3 || secured == 0 && own {
		return
	}
	c.fail(at+".engine", `write engine_ca = "ca.pem", engine_cert = "cert.pem" and engine_key = "key.pem" beside it, or use ssh://`,
		"the engine at %s would be used without keys, and everybody who can use an engine is root on its host",
		net.JoinHostPort(u.Hostname(), u.Port()))
}
