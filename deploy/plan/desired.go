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

// Labels of what deploy makes, beside topology.Label….
const (
	LabelSpec     = "posta.spec"     // of a container: digest of its spec
	LabelShape    = "posta.shape"    // of a container: digest of the topology's shape
	LabelChain    = "posta.chain"    // of a container and of a volume: the roles whose data it is
	LabelFence    = "posta.fence"    // of a volume: the host whose medics share it
	LabelRevision = "posta.ledger"   // of a revision: the cluster. It has no LabelCluster, so medics do not start it
	LabelNumber   = "posta.turn"     // of a revision: its number
	LabelDigest   = "posta.digest"   // of a revision: digest of what it keeps
	LabelArriving = "posta.arriving" // of a volume: it was made to copy data into it
	LabelArrived  = "posta.arrived"  // of a container that is never started: the volume into which all was copied
	LabelDrained  = "posta.quiet"    // of a drain mark, a container that is never started: the cluster
	LabelHelper   = "posta.helper"   // of a container that carries data and is removed again: the cluster
	LabelKeys     = "posta.keys"     // of a note of keys, a container that is never started: the cluster. LabelDigest is that of the keys
	LabelKeysIn   = "posta.keys-in"  // of a note of keys: the volume with the keys

	EnvTopology = "POSTA_TOPOLOGY_TEXT" // of a container: the plain topology

	EnvKeys = "POSTA_KEYS" // of a container with keys: the directory that they are in

	// KeysName is a unit's key directory in the volume with its data.
	KeysName = "keys"
)

// ErrRefused is wrapped when a plan would do harm, or lead nowhere.
var ErrRefused = errors.New("refused")

// Desired is what is to be. FromTopology sets the first part, its caller the rest.
type Desired struct {
	Cluster    string
	File       string // text of the topology file, for the revision
	Image      string // reference; "" when the cluster is taken down
	Arch       string // of the image, as Go calls it; "" is not known here
	Shape      string // digest of what all nodes have to agree on while a session runs
	Network    string // of containers on hosts that do not use their own
	Hosts      []Host // those that have units, in file order
	Units      []Unit // nodes, then medics, in file order
	OneMachine bool   // all hosts are one machine, and containers find each other by name in a network of its engine

	LoseSessions bool // give up sessions if no input is left that could tell whether any run
	LoseResults  bool // results at outputs may be thrown away
}

// Host is a machine that the topology names and uses.
type Host struct {
	Name   string
	Bridge bool // its containers are in Desired.Network, not in the host's own
}

// Unit is a node or a medic.
type Unit struct {
	Name  string
	Host  string
	Role  string // topology.RoleNode or RoleMedic
	Chain string // roles of a node, with + between them; "" of a medic
	Spec  Spec
	Hash  string // digest of Spec
	Keys  string // digest of its keys, of which nothing else is known here; "" without keys. It is not in Spec, because new keys need no new container
	Disk  int64  // bytes that its data needs, about
}

// Input reports whether clients open sessions there.
func (u *Unit) Input() bool { return holds(u.Chain, topology.Input) }

// Medic reports whether it is a medic, else it is a node.
func (u *Unit) Medic() bool { return u.Role == topology.RoleMedic }

func holds(chain string, r topology.Role) bool {
	return slices.Contains(strings.Split(chain, "+"), string(r))
}

// Spec is what a unit's container is made of. Its digest is in the container's name and label, and is made of the names of these fields
// too: a renamed field would replace every container at the next deploy.
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
	Always  bool          // the engine starts it again; else only medics do
	Grace   time.Duration // how long it may take to end
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

// KeysNoteName is the note of the keys that are in a volume.
func KeysNoteName(volume string) string { return volume + "-keys" }

// FenceName is what the medics of a host share.
func FenceName(cluster, host string) string { return cluster + "-fence-" + host }

// RevisionDigest is the digest of what a revision of this topology keeps.
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
