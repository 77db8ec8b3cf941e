package topology

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// Host is a machine, or a network of containers on a machine.
type Host struct {
	Name string
	// Local reports that the file gives the host no address: the host is the machine that reads the file. Addresses.Local sets its Address,
	// because no two clusters and no two users share one.
	Local bool
	// Address is what others dial: an IP address, a DNS name, or "ipc:DIR" for unix sockets in an absolute directory (on one machine only).
	// "{node}" in it stands for the node's name, for networks that know every container by its own name.
	Address string
	// Bind is what nodes listen on: an IP address ("0.0.0.0" for all addresses of the machine), or "ipc:DIR". Default: Address, or 0.0.0.0 if
	// that contains {node}. If a proxy or a NAT is in between, it differs from Address.
	Bind string
	// Ports is the first port that others dial, 1 to 65535, default 5500. Nodes take ports from here upward: in file order, and within a node
	// in the order of Kinds, one for each socket that the node has. Unix sockets have no ports, but containers publish ports of a local host.
	Ports int
	// BindPorts is the first port that nodes listen on, default Ports.
	BindPorts int
	// Internal is the address that nodes and medics dial instead of Address; "" means Address. See Addresses.Inside. No file sets it.
	Internal string
	// Roots replaces the roots of [data] on this host; nil if the file does not set them.
	Roots []string
	// Metrics is the IP:PORT at which the first process on the host serves its metrics; "" for none. See MetricsAddress.
	Metrics string
	// Deploy are the settings for posta deploy.
	Deploy Deploy
}

const (
	ipcPrefix = "ipc:"
	nodeMark  = "{node}"
	// nowhere is the address of a local host while no cluster is up. No process can listen at it or dial it.
	nowhere = ipcPrefix + "{sockets}"
)

// settle fills in the fields that follow from the address.
func (h *Host) settle() {
	if h.Bind == "" {
		h.Bind = h.Address
		if strings.Contains(h.Address, nodeMark) {
			h.Bind = "0.0.0.0"
		}
	}
}

// IPC reports whether the host's nodes are reached over unix sockets.
func (h Host) IPC() bool { return strings.HasPrefix(h.Address, ipcPrefix) }

// address returns the address that clients dial to reach a node on the host.
func (h Host) address(id NodeID) string {
	return strings.ReplaceAll(h.Address, nodeMark, string(id))
}

// internal returns the address that nodes and medics dial.
func (h Host) internal(id NodeID) string {
	return strings.ReplaceAll(cmp.Or(h.Internal, h.Address), nodeMark, string(id))
}

// loopbackOnly reports whether only processes on the same machine can dial the address.
func (h Host) loopbackOnly() bool {
	if h.IPC() || h.Address == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(h.Address)
	return err == nil && ip.IsLoopback()
}

// uses reports whether a stage names the host.
func (t *Topology) uses(h Host) bool {
	return slices.ContainsFunc(t.Stages, func(s Stage) bool { return slices.Contains(s.Hosts, h.Name) })
}

// hostIndex returns the index of a node's host. It is -1 only in a file that is refused.
func (t *Topology) hostIndex(n Node) int {
	return slices.IndexFunc(t.Hosts, func(h Host) bool { return h.Name == n.Host })
}
