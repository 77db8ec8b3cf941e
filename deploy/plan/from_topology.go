package plan

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"posta.dev/posta/topology"
)

const (
	exitTime   = 2 * time.Second  // from the end of a node's drain to the end of its process
	medicGrace = 12 * time.Second // a medic that is told to end first finishes a restart that it has begun
	medicDisk  = 8 << 20          // bytes
	maxText    = 100 << 10        // bytes of one environment variable; Linux takes 128 KiB
)

// FromTopology derives the desired state from a topology and its text. keys has the digests of the units' keys by name; it is empty for a
// cluster without keys. The password of a broker is sent together with the keys. It is not in the desired state, because everybody who may
// use the engine can see the desired state (S6).
func FromTopology(t *topology.Topology, file, image, arch string, keys map[string]string) (Desired, error) {
	secret := t.BrokerSecret() != ""
	t, file, err := t.WithoutBrokerSecret(file)
	if err != nil && image != "" { // a take-down creates nothing
		return Desired{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	d := Desired{Cluster: t.Name, File: file, Image: image, Arch: arch, Shape: shape(t, len(keys) > 0), Network: t.Name}
	if image != "" && secret && len(keys) == 0 {
		return d, fmt.Errorf("%w: the url of [%s] has a password, which posta deploy brings to nodes together with their keys, and with "+
			"insecure = true they have none; remove insecure = true and make keys with posta key init, or use posta deploy --render",
			ErrRefused, t.Transport)
	}
	loopback := loopbackOnly(t)
	d.OneMachine = loopback
	bridges := 0
	for _, h := range t.Hosts {
		switch {
		case h.Local:
			return d, fmt.Errorf("%w: host %q has no address; write the one that clients and other hosts dial, or address = \"127.0.0.1\" if all "+
				"of them are on this machine", ErrRefused, h.Name)
		case h.IPC():
			return d, fmt.Errorf(
				"%w: host %q has unix sockets, which do not reach from container to container; write address = \"127.0.0.1\" and ports = 5500",
				ErrRefused, h.Name)
		}
		if !bridged(h) {
			d.OneMachine = false // containers of such a host use the machine's own loopback
		}
		if UsesHost(t, h.Name) {
			d.Hosts = append(d.Hosts, Host{Name: h.Name, Bridge: bridged(h)})
			if bridged(h) {
				bridges++
			}
		}
	}
	if image != "" && bridges > 0 {
		if err := t.BrokerForContainers(); err != nil {
			return d, fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}
	if loopback && bridges > 0 && bridges < len(d.Hosts) {
		return d, fmt.Errorf("%w: some hosts have network = \"host\" and some have not, and 127.0.0.1 is another machine in a container; "+
			"write addresses that all can dial", ErrRefused)
	}
	for _, h := range t.Hosts {
		if bridged(h) && UsesHost(t, h.Name) && publishedAt(h, d.OneMachine) == "" {
			return d, fmt.Errorf("%w: host %q is at %s, and ports of containers are published at IP addresses: write bind = \"10.0.0.1\", the "+
				"machine's own, beside it, or bind = \"0.0.0.0\" for all that it has",
				ErrRefused, h.Name, h.Address)
		}
	}
	text := t.Canonical(bindInContainers(d.OneMachine))
	if len(text) > maxText {
		return d, fmt.Errorf("%w: the topology has %d bytes without its comments, and a container takes %d", ErrRefused, len(text), maxText)
	}
	for _, n := range t.Nodes() {
		d.addUnit(t, n, topology.RoleNode, text, keys)
	}
	for _, n := range t.MedicNodes() {
		d.addUnit(t, n, topology.RoleMedic, text, keys)
	}
	for _, n := range t.MedicNodes() {
		if t.ConsoleAddress(n) != "" {
			d.addUnit(t, n, topology.RoleConsole, text, keys)
		}
	}
	return d, nil
}

// shape returns the digest of everything on which all nodes have to agree while a session runs. Nodes with and without keys cannot talk to
// each other, so that is part of it.
func shape(t *topology.Topology, keys bool) string {
	text := t.Shape()
	if keys {
		text += "\nkeys"
	}
	return digest(text)
}

// UsesHost reports whether a node or medic of the topology is on the host.
func UsesHost(t *topology.Topology, host string) bool {
	return slices.ContainsFunc(t.All(), func(n topology.Node) bool { return n.Host == host })
}

// bridged reports whether containers of the host are in a network of their own.
func bridged(h topology.Host) bool { return h.Deploy.Network != topology.NetworkHost }

// loopbackOnly reports whether the addresses of all hosts can be dialled only on their own machine. Then all hosts are one machine.
func loopbackOnly(t *topology.Topology) bool {
	return !slices.ContainsFunc(t.Hosts, func(h topology.Host) bool {
		ip, err := netip.ParseAddr(h.Address)
		return UsesHost(t, h.Name) && h.Address != "localhost" && h.Address != topology.InternalAddress && (err != nil || !ip.IsLoopback())
	})
}

// bindInContainers makes nodes listen on all addresses of their containers, because published ports lead there: a container does not have
// the host's addresses.
func bindInContainers(oneMachine bool) func(topology.Host) topology.Host {
	return func(h topology.Host) topology.Host {
		if !oneMachine && bridged(h) {
			h.Bind = "0.0.0.0"
			if ip, err := netip.ParseAddr(h.Address); err == nil && ip.Is6() {
				h.Bind = "::"
			}
		}
		return h
	}
}

func (d *Desired) addUnit(t *topology.Topology, n topology.Node, role, text string, keys map[string]string) {
	h := t.Hosts[slices.IndexFunc(t.Hosts, func(h topology.Host) bool { return h.Name == n.Host })] // a checked topology has it
	data := containerData(t)
	u := Unit{Name: string(n.ID), Host: n.Host, Role: role, Chain: chainText(n.Chain)}
	if role == topology.RoleConsole {
		u.Name = topology.ConsoleName(n)
	}
	u.Keys = keys[u.Name]
	own := path.Join(data, u.Name)
	s := Spec{
		Image: d.Image, Memory: int64(h.Deploy.Memory),
		Env: []string{EnvTopology + "=" + text, "POSTA_TOPOLOGY=" + topology.EnvPrefix + EnvTopology},
		Labels: map[string]string{
			topology.LabelCluster: t.Name, topology.LabelNode: u.Name, topology.LabelHost: n.Host, topology.LabelRole: role,
			LabelShape: d.Shape, LabelChain: u.Chain,
		},
		Mounts: []Mount{{Volume: VolumeName(t.Name, u.Name), Target: own}},
	}
	roots := t.RootsAt(n)
	if role == topology.RoleConsole {
		roots = t.ConsoleRoots(n, u.Keys != "")
	}
	for _, root := range roots {
		s.Mounts = append(s.Mounts, Mount{File: root, Target: root, ReadOnly: true})
	}
	if u.Keys != "" {
		s.Env = append(s.Env, EnvKeys+"="+path.Join(own, KeysName))
	}
	if d.OneMachine {
		s.Env = append(s.Env, "POSTA_ADDRESS="+topology.InternalAddress)
		s.NoDNS = role != topology.RoleNode || !t.BrokerHasName()
	}
	if bridged(h) {
		s.Network, s.Alias = d.Network, u.Name
	}
	switch role {
	case topology.RoleConsole:
		u.Disk = medicDisk
		s.User, s.Command = topology.NodeUser, []string{"console", "--of", string(n.ID), "--alone"}
		if address, err := netip.ParseAddrPort(t.ConsoleAddress(n)); err == nil { // of a checked topology it is one
			s.Ports = []Port{{At: address.Addr().String(), Outside: int(address.Port()), Inside: int(address.Port())}}
		}
		s.Mounts = append(s.Mounts, Mount{Volume: consolesName(t.Name, n.Host), Target: path.Join(data, topology.ConsoleDir)})
		if bridged(h) { // published ports lead to the container's own address
			s.Command = append(s.Command, "--console-bind", "0.0.0.0")
		}
		s.Always, s.Grace = true, exitTime
	case topology.RoleMedic:
		u.Disk = medicDisk
		s.User, s.Command = topology.MedicUser, []string{"medic", u.Name, "--docker"}
		s.Ports = ports(n, h, d.OneMachine)
		s.Mounts = append(s.Mounts, Mount{Volume: FenceName(t.Name, n.Host), Target: path.Join(data, "fence")},
			Mount{File: h.Deploy.Socket, Target: "/var/run/docker.sock"})
		s.Always, s.Grace = true, medicGrace
	default:
		u.Disk = int64(t.Limits.Snapshot + 2*t.Limits.Segment + t.Limits.Window)
		s.User, s.Command = topology.NodeUser, []string{"node", u.Name}
		s.Ports = ports(n, h, d.OneMachine)
		s.Grace = t.Limits.Drain + exitTime
	}
	u.Spec, u.Hash = s, s.hash()
	d.Units = append(d.Units, u)
}

func chainText(chain []topology.Role) string {
	all := make([]string, len(chain))
	for i, r := range chain {
		all[i] = string(r)
	}
	return strings.Join(all, "+")
}

// containerData returns the data directory in a container: the image's working directory is /posta.
func containerData(t *topology.Topology) string {
	if data := t.Data(); path.IsAbs(data) {
		return path.Clean(data)
	}
	return path.Join("/posta", t.Data())
}

// ports returns the ports of the host that a unit needs: published ones, or its own in the network of the host. On one machine only clients
// and observers connect from outside; between hosts all nodes and medics do.
func ports(n topology.Node, h topology.Host, oneMachine bool) (all []Port) {
	at := publishedAt(h, oneMachine)
	for _, e := range n.Sockets.List() {
		if oneMachine && e.Kind != topology.KindClient && e.Kind != topology.KindControl {
			continue
		}
		p := Port{At: at, Inside: portOf(e.Bind)}
		p.Outside = p.Inside
		if oneMachine {
			p.Outside = portOf(e.Dial)
		}
		all = append(all, p)
	}
	return all
}

// publishedAt returns the host's own address at which the ports of its containers are published. It is the one in the topology, so that
// nothing listens elsewhere: a host listens on all addresses of its machine only if the file says so. It returns "" if the host's address
// is not an IP address but a name or {node}; for these a missing bind means 0.0.0.0.
func publishedAt(h topology.Host, oneMachine bool) string {
	bind, err := netip.ParseAddr(h.Bind)
	switch {
	case err == nil && (!bind.IsUnspecified() || !strings.Contains(h.Address, topology.InternalAddress)):
		return h.Bind
	case oneMachine:
		return topology.Published
	}
	return ""
}

// portOf returns the port of an endpoint of a checked topology.
func portOf(endpoint string) int {
	u, err := url.Parse(endpoint)
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(u.Port())
	return port
}
