package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/topology"
)

// Labels of the objects that deploy creates, in addition to topology.Label….
const (
	LabelSpec     = "posta.spec"     // of a container: digest of its spec
	LabelShape    = "posta.shape"    // of a container: digest of the topology's shape
	LabelChain    = "posta.chain"    // of a container and of a volume: the roles to which the data belongs
	LabelFence    = "posta.fence"    // of a volume: the host whose medics, or consoles, share it
	LabelRevision = "posta.ledger"   // of a revision: the cluster. It has no LabelCluster, so medics do not start it
	LabelNumber   = "posta.turn"     // of a revision: its number
	LabelDigest   = "posta.digest"   // of a revision: digest of what it keeps
	LabelArriving = "posta.arriving" // of a volume: it was created as the target of a copy
	LabelArrived  = "posta.arrived"  // of a container that is never started: the volume whose copy is complete
	LabelDrained  = "posta.quiet"    // of a drain mark, a container that is never started: the cluster
	LabelHelper   = "posta.helper"   // of a container that copies data and is then removed: the cluster
	LabelKeys     = "posta.keys"     // of a note of keys, a container that is never started: the cluster. LabelDigest is that of the keys
	LabelKeysIn   = "posta.keys-in"  // of a note of keys: the volume with the keys

	EnvTopology = "POSTA_TOPOLOGY_TEXT" // of a container: the plain topology

	EnvKeys = "POSTA_KEYS" // of a container with keys: their directory

	// KeysName is a unit's key directory in the volume with its data.
	KeysName = "keys"
)

// ErrRefused is wrapped when a plan would do harm, or cannot reach the desired state.
var ErrRefused = errors.New("refused")

// Desired is the desired state. FromTopology sets the first part, its caller the rest.
type Desired struct {
	Cluster    string
	File       string // text of the topology file, for the revision
	Image      string // reference; "" when the cluster is taken down
	Arch       string // the image's GOARCH; "" if it is not known here
	Shape      string // digest of everything on which all nodes have to agree while a session runs
	Network    string // of containers on hosts that do not use the host's network
	Hosts      []Host // the hosts with units, in file order
	Units      []Unit // nodes, then medics, then their consoles, each in file order
	OneMachine bool   // all hosts are one machine, and containers find each other by name in a network of its engine

	LoseSessions bool // give up sessions if no input is left that could say whether any run
	LoseResults  bool // results at outputs may be deleted
}

// Host is a machine that the topology names and uses.
type Host struct {
	Name   string
	Bridge bool // its containers are in Desired.Network, not in the host's network
}

// Unit is a node, a medic, or the console of one.
type Unit struct {
	Name  string
	Host  string
	Role  string // topology.RoleNode, RoleMedic or RoleConsole
	Chain string // roles of a node, with + between them; "" of others
	Spec  Spec
	Hash  string // digest of Spec
	Keys  string // digest of its keys, "" without keys; a plan never contains the keys. It is not part of Spec: new keys need no new container
	Disk  int64  // about how many bytes its data needs
}

// Input reports whether it has the input role, so that clients open sessions there.
func (u *Unit) Input() bool { return holds(u.Chain, topology.Input) }

// node reports whether it is a node.
func (u *Unit) node() bool { return u.Role == topology.RoleNode }

// Medic reports whether it is a medic.
func (u *Unit) Medic() bool { return u.Role == topology.RoleMedic }

func holds(chain string, r topology.Role) bool {
	return slices.Contains(strings.Split(chain, "+"), string(r))
}

// Spec is the specification of a unit's container. Its digest is in the container's name and label. The digest covers the names of these
// fields, too, so renaming a field would replace every container at the next deploy.
type Spec struct {
	Image   string
	User    string `json:",omitempty"` // as UID:GID
	Command []string
	Env     []string
	Labels  map[string]string
	Ports   []Port
	Mounts  []Mount
	Network string // "" is the host's own
	Alias   string // the name by which other containers in the network find it
	NoDNS   bool   // names outside its network are not looked up
	Memory  int64
	Always  bool          // the engine restarts it; otherwise only medics do
	Grace   time.Duration // how long it may take to end
}

// Port is a published port.
type Port struct {
	At      string // an address of the host; "" is all of them
	Outside int
	Inside  int
}

// Mount is a volume, or a file or directory of the host.
type Mount struct {
	Volume   string
	File     string
	Target   string
	ReadOnly bool `json:",omitempty"` // omitted if false, so that digests of containers without it stay the same
}

// containerName returns the name of a unit's container. The digest is part of the name, because a unit has two containers while it is
// replaced.
func (u *Unit) containerName(cluster string) string {
	return cluster + "-" + u.Name + "-" + u.Hash[:8]
}

// VolumeName is the volume with a unit's data.
func VolumeName(cluster, unit string) string { return cluster + "-" + unit }

// KeysNoteName is the keys note of a volume.
func KeysNoteName(volume string) string { return volume + "-keys" }

// FenceName is the volume that the medics of a host share.
func FenceName(cluster, host string) string { return cluster + "-fence-" + host }

// consolesName is the volume that the consoles of a host share: their secret lets a page of one go on at another.
func consolesName(cluster, host string) string { return cluster + "-consoles-" + host }

// shared is the volume that the unit shares with units of its kind on the same host; "" for none.
func (u *Unit) shared(cluster string) string {
	switch u.Role {
	case topology.RoleMedic:
		return FenceName(cluster, u.Host)
	case topology.RoleConsole:
		return consolesName(cluster, u.Host)
	}
	return ""
}

// RevisionDigest is the digest of a revision of this topology.
func (d *Desired) RevisionDigest() string { return digest(d.Image + "\n" + d.File) }

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
