package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"time"

	"posta.dev/posta/topology"
)

// Labels of what deploy makes, beside topology.Label….
const (
	LabelSpec     = "posta.spec"     // of a container: digest of its spec
	LabelShape    = "posta.shape"    // of a container: digest of the topology's shape
	LabelChain    = "posta.chain"    // of a container and of a volume: the roles whose data it is
	LabelFence    = "posta.fence"    // of a volume: the host whose medics share it
	LabelLedger   = "posta.ledger"   // of a ledger: the cluster. It has no LabelCluster: it is nobody for a medic to start
	LabelTurn     = "posta.turn"     // of a ledger: its number
	LabelDigest   = "posta.digest"   // of a ledger: of what it keeps
	LabelArriving = "posta.arriving" // of a volume: it was made to copy data into it
	LabelArrived  = "posta.arrived"  // of a container that is never started: the volume into which all was copied
	LabelQuiet    = "posta.quiet"    // of a container that is never started: no session runs; the cluster
	LabelHelper   = "posta.helper"   // of a container that carries data and is removed again: the cluster

	EnvTopology = "POSTA_TOPOLOGY_TEXT" // of a container: the plain topology
)

// ErrRefused is wrapped when a plan would do harm, or lead nowhere.
var ErrRefused = errors.New("refused")

// Desired is what is to be.
type Desired struct {
	Cluster string
	File    string // text of the topology file, for the ledger
	Image   string // reference
	Arch    string // of the image, as Go calls it; "" is not known here
	Shape   string // digest
	Network string // of containers on hosts that do not use their own
	Hosts   []Host
	Units   []Unit // nodes, then medics, in file order

	LoseSessions bool          // where nobody can tell any more whether sessions run, they are lost
	LoseResults  bool          // results at outputs may be thrown away
	Wait         time.Duration // how long sessions may take to come to their end, for the text of the step
	Inside       bool          // containers find each other by name, in a network of one engine
}

// Host is a machine that the topology names and uses.
type Host struct {
	Name   string
	Bridge bool // it needs the network
}

// Unit is a node or a medic.
type Unit struct {
	Name  string
	Host  string
	Role  string // topology.RoleNode or RoleMedic
	Chain string // its roles; "" of a medic
	Spec  Spec
	Hash  string // of Spec
	Disk  int64  // about what its data needs
}

// Input says whether clients open sessions there.
func (u *Unit) Input() bool { return holds(u.Chain, topology.Input) }

// Medic says that it is no node.
func (u *Unit) Medic() bool { return u.Role == topology.RoleMedic }

func holds(chain string, r topology.Role) bool {
	for _, c := range strings.Split(chain, "+") {
		if c == string(r) {
			return true
		}
	}
	return false
}

// Spec is what a unit's container is made of.
type Spec struct {
	Image   string
	Command []string
	Env     []string
	Labels  map[string]string
	Ports   []Port
	Mounts  []Mount
	Network string // "" is the host's own
	Alias   string // by which others in the network find it
	NoDNS   bool   // names of other networks are not asked for
	Memory  int64
	Always  bool // the engine starts it again; else only medics do
	Grace   time.Duration
}

// Port is published.
type Port struct {
	At      string // an address of the host; "" is all of them
	Outside int
	Inside  int
}

// Mount is a volume, or a file of the host.
type Mount struct {
	Volume string
	File   string
	Target string
}

// ContainerName is what the engine calls a unit's container. It holds the digest, because for a moment there are two.
func (u *Unit) ContainerName(cluster string) string {
	return cluster + "-" + u.Name + "-" + u.Hash[:8]
}

// VolumeName is a unit's data.
func VolumeName(cluster, unit string) string { return cluster + "-" + unit }

// FenceName is what the medics of a host share.
func FenceName(cluster, host string) string { return cluster + "-fence-" + host }

const (
	goneAfter    = 2 * time.Second  // a node's drain is over, and it goes
	handsAreDone = 12 * time.Second // a medic that is told to end finishes the restart it is at
	medicDisk    = 8 << 20
	maxText      = 100 << 10 // of one environment variable; Linux takes 128 KiB
)

// Want derives what is to be from a topology and its text.
func Want(t *topology.Topology, file, image, arch string) (Desired, error) {
	d := Desired{Cluster: t.Name, File: file, Image: image, Arch: arch, Shape: digest(t.Shape()), Network: t.Name}
	d.Inside = allOwn(t)
	for _, h := range t.Hosts {
		if h.IPC() {
			return d, fmt.Errorf("%w: host %q has unix sockets, which do not reach from container to container; write address = \"127.0.0.1\" and ports = 5500", ErrRefused, h.Name)
		}
		if d.Inside && h.Deploy.Network == topology.NetworkHost {
			d.Inside = false // they have the machine's own loopback
		}
	}
	bridges := 0
	for _, h := range t.Hosts {
		if !uses(t, h.Name) {
			continue
		}
		if h.Deploy.Network != topology.NetworkHost {
			bridges++
		}
		d.Hosts = append(d.Hosts, Host{Name: h.Name, Bridge: h.Deploy.Network != topology.NetworkHost})
	}
	if allOwn(t) && bridges > 0 && bridges < len(d.Hosts) {
		return d, fmt.Errorf("%w: some hosts have network = \"host\" and some have not, and 127.0.0.1 is another machine in a container; write addresses that all can dial", ErrRefused)
	}
	text := t.Plain(inContainers(d.Inside))
	if len(text) > maxText {
		return d, fmt.Errorf("%w: the topology has %d bytes without its comments, and a container takes %d", ErrRefused, len(text), maxText)
	}
	for _, n := range t.Nodes() {
		d.Units = append(d.Units, d.unit(t, n, topology.RoleNode, text))
	}
	for _, n := range t.MedicNodes() {
		d.Units = append(d.Units, d.unit(t, n, topology.RoleMedic, text))
	}
	return d, nil
}

func uses(t *topology.Topology, host string) bool {
	for _, n := range t.All() {
		if n.Host == host {
			return true
		}
	}
	return false
}

// allOwn says that all hosts are one machine.
func allOwn(t *topology.Topology) bool {
	for _, h := range t.Hosts {
		ip, err := netip.ParseAddr(h.Address)
		if uses(t, h.Name) && h.Address != "localhost" && h.Address != topology.InsideAddress && (err != nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// inContainers has nodes listen where published ports lead: an address of the host is none of the container's.
func inContainers(inside bool) func(topology.Host) topology.Host {
	return func(h topology.Host) topology.Host {
		if !inside && h.Deploy.Network != topology.NetworkHost {
			h.Bind = "0.0.0.0"
			if ip, err := netip.ParseAddr(h.Address); err == nil && ip.Is6() {
				h.Bind = "::"
			}
		}
		return h
	}
}

func (d *Desired) unit(t *topology.Topology, n topology.Node, role, text string) Unit {
	var h topology.Host
	for _, x := range t.Hosts {
		if x.Name == n.Host {
			h = x
		}
	}
	data := containerData(t)
	u := Unit{Name: string(n.ID), Host: n.Host, Role: role, Chain: chainText(n.Chain)}
	s := Spec{
		Image: d.Image, Memory: int64(h.Deploy.Memory),
		Env: []string{EnvTopology + "=" + text, "POSTA_TOPOLOGY=" + topology.EnvPrefix + EnvTopology},
		Labels: map[string]string{
			topology.LabelCluster: t.Name, topology.LabelNode: u.Name, topology.LabelHost: n.Host, topology.LabelRole: role,
			LabelShape: d.Shape, LabelChain: u.Chain,
		},
		Mounts: []Mount{{Volume: VolumeName(t.Name, u.Name), Target: path.Join(data, u.Name)}},
	}
	if d.Inside {
		s.Env = append(s.Env, "POSTA_ADDRESS="+topology.InsideAddress)
		s.NoDNS = true
	}
	if h.Deploy.Network != topology.NetworkHost {
		s.Network, s.Alias = d.Network, u.Name
		s.Ports = ports(n, h, d.Inside)
	}
	u.Disk = medicDisk
	if role == topology.RoleNode {
		u.Disk = int64(t.Limits.Snapshot + 2*t.Limits.Segment + t.Limits.Window)
	}
	if role == topology.RoleMedic {
		s.Command = []string{"medic", u.Name, "--docker"}
		s.Mounts = append(s.Mounts, Mount{Volume: FenceName(t.Name, n.Host), Target: path.Join(data, "fence")},
			Mount{File: h.Deploy.Socket, Target: "/var/run/docker.sock"})
		s.Always, s.Grace = true, handsAreDone
	} else {
		s.Command = []string{"node", u.Name}
		s.Grace = t.Limits.Drain + goneAfter
	}
	u.Spec, u.Hash = s, s.hash()
	return u
}

func chainText(chain []topology.Role) string {
	var all []string
	for _, r := range chain {
		all = append(all, string(r))
	}
	return strings.Join(all, "+")
}

// containerData is where a container has the data directory: the image's working directory is /posta.
func containerData(t *topology.Topology) string {
	if data := t.Data(); path.IsAbs(data) {
		return path.Clean(data)
	}
	return path.Join("/posta", t.Data())
}

// ports: inside one machine only clients and who watches come from outside; between hosts everybody does.
func ports(n topology.Node, h topology.Host, inside bool) (all []Port) {
	at := ""
	if _, err := netip.ParseAddr(h.Bind); err == nil && h.Bind != "0.0.0.0" && h.Bind != "::" {
		at = h.Bind
	} else if inside {
		at = "127.0.0.1"
	}
	for _, e := range n.Sockets.List() {
		if inside && e.Kind != topology.KindClient && e.Kind != topology.KindControl {
			continue
		}
		bind, err := url.Parse(e.Bind)
		if err != nil {
			continue // an endpoint of a checked topology is one
		}
		var p int
		_, _ = fmt.Sscan(bind.Port(), &p)
		outside := p
		if inside {
			dial, err := url.Parse(e.Dial)
			if err != nil {
				continue
			}
			_, _ = fmt.Sscan(dial.Port(), &outside)
		}
		all = append(all, Port{At: at, Outside: outside, Inside: p})
	}
	return all
}

func (s *Spec) hash() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic("plan: " + err.Error()) // strings and numbers
	}
	return digest(string(text))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// LedgerDigest is of what a ledger keeps.
func (d *Desired) LedgerDigest() string { return digest(d.Image + "\n" + d.File) }
