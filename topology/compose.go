package topology

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"time"
)

// Labels of containers. Medics find a node's container by its labels, because docker-compose 1.29 and Compose v2 choose different names.
const (
	LabelCluster = "posta.cluster"
	LabelNode    = "posta.node" // the node or medic
	LabelHost    = "posta.host"
	LabelRole    = "posta.role"
	RoleNode     = "node"
	RoleMedic    = "medic"
	RoleConsole  = "console"
)

// Users of containers, as user and group. Nodes have no other rights than their own files need. Medics use the engine's socket, which
// belongs to root.
const (
	NodeUser  = "65532:65532"
	MedicUser = "0:0"
)

// InternalAddress is the address that containers use for each other: each is known in their network by its node's name.
const InternalAddress = nodeMark

// errNotOneMachine is wrapped by Compose if the hosts of the topology are not one machine.
var errNotOneMachine = errors.New("a compose file is for one machine")

//go:embed compose.yaml.tmpl
var composeSource string

var composeTemplate = newTemplate("docker-compose.yaml", composeSource)

// Compose configures the compose file; the zero value of each field stands for its default.
type Compose struct {
	Image string // default "posta"
	File  string // the topology file, absolute or relative to the compose file; default "./topology.toml"
	Again string // the command that writes the compose file, for its first line
	Local string // the public key of a client that is admitted besides those of [clients], if any; with Keys
	Keys  bool   // each node and medic has a key directory: in the volume with its data, or, with ComposeHosts, beside the compose file
}

const (
	composeDir  = "/posta" // the image's working directory
	composeFile = composeDir + "/topology.toml"
	fenceVolume = "fence"
	keysDir     = "keys"
	exitGrace   = 2 * time.Second  // after a node's drain, until it has ended
	medicGrace  = 12 * time.Second // a medic that is told to end finishes its current restart, which has ten seconds
)

// Compose writes a compose file with a container for each node and medic, for docker-compose 1.29 and Compose v2. It uses only what both
// accept, and its text is the same for the same topology.
func (t *Topology) Compose(c Compose) (string, error) {
	if err := t.oneMachine(); err != nil {
		return "", err
	}
	if err := t.BrokerForContainers(); err != nil {
		return "", err
	}
	return t.compose(c, "", t.Nodes(), t.MedicNodes())
}

// compose writes the file for these nodes and medics. onHost is the machine that runs only these containers; "" stands for a network of
// containers.
func (t *Topology) compose(c Compose, onHost string, nodes, medics []Node) (string, error) {
	data := composeData{
		OutsideNames: t.BrokerHasName(),
		Name:         t.Name, Cluster: yamlString(t.Name), Again: c.Again, OnHost: onHost,
		Image: yamlString(cmp.Or(c.Image, "posta")), Source: yamlString(composeSourcePath(cmp.Or(c.File, "topology.toml"))), Target: composeFile,
		NodeUser: yamlString(NodeUser), MedicUser: yamlString(MedicUser),
		NodeGrace: yamlTime(t.Limits.Drain + exitGrace), MedicGrace: yamlTime(medicGrace),
		Fence: yamlString(path.Join(t.containerData(), fenceVolume)), Console: yamlString(path.Join(t.containerData(), ConsoleDir)),
	}
	for _, h := range t.Hosts {
		if len(t.Hosts) > 1 && onHost == "" { // a medic acts on its own host, and here all hosts are one machine
			data.Reach = append(data.Reach, yamlString(h.Name))
		}
	}
	for _, n := range nodes {
		data.Nodes = append(data.Nodes, t.service(c, n, RoleNode, onHost == ""))
	}
	for _, n := range medics {
		data.Medics = append(data.Medics, t.service(c, n, RoleMedic, onHost == ""))
		if t.ConsoleAddress(n) != "" {
			data.Consoles = append(data.Consoles, t.consoleService(c, n, onHost == ""))
		}
	}
	return fill(composeTemplate, data)
}

type composeData struct {
	Name, Cluster, Again, Image, Source, Target string
	NodeUser, MedicUser                         string
	NodeGrace, MedicGrace, Fence, Console       string
	OnHost                                      string // the machine whose network the containers use; "" if they have a network of their own
	OutsideNames                                bool   // the broker's name has to be resolved outside the containers' network
	Nodes, Medics, Consoles                     []composeService
	Reach                                       []string // hosts that medics act on, besides their own
}

type composeService struct {
	Name, Cluster, Host, Role string
	// digest of the topology: if it changes, compose replaces the containers, because they read the file only at their start
	Digest   string
	Data     string   // directory in the container
	Keys     string   // directory in the container; "" without keys
	Local    string   // a client's public key; "" if there is none
	KeysFrom string   // directory of the machine that is mounted there; "" if the keys are in the volume
	Ports    []string // "127.0.0.1:OUTSIDE:INSIDE": only this machine may reach them
	Of       string   // the medic of a console
	Roots    []string // directories of the machine that are mounted at the same path, to be read (S8)
}

func (t *Topology) service(c Compose, n Node, role string, published bool) composeService {
	s := composeService{
		Name: yamlName(n.ID), Cluster: yamlString(t.Name), Host: yamlString(n.Host), Role: role, Digest: yamlString(t.digest()),
		Data: yamlString(path.Join(t.containerData(), string(n.ID))),
	}
	if c.Keys && c.Local != "" {
		s.Local = yamlString(c.Local)
	}
	switch {
	case c.Keys && published:
		s.Keys = yamlString(path.Join(t.containerData(), string(n.ID), keysDir))
	case c.Keys:
		s.Keys, s.KeysFrom = yamlString(path.Join(composeDir, keysDir)), yamlString("./"+ComposeKeys(n))
	}
	s.Roots = texts(t.RootsAt(n), yamlString)
	for _, e := range n.Sockets.List() {
		// Clients and monitoring are outside the network of the containers; frames stay inside.
		if published && (e.Kind == KindClient || e.Kind == KindControl) {
			s.Ports = append(s.Ports, fmt.Sprintf("%s:%d:%d", t.publishedAt(n), port(e.Dial), port(e.Bind)))
		}
	}
	return s
}

// Owned are the consoles whose volumes are given to the user of the nodes. Where keys are directories of the machine, which belong to root,
// consoles are root, too, without capabilities.
func (d composeData) Owned() []composeService {
	if d.OnHost != "" {
		return nil
	}
	return d.Consoles
}

// consoleService is the console of a medic. It reads the medic's keys, and has neither the engine's socket nor the medic's data.
func (t *Topology) consoleService(c Compose, n Node, published bool) composeService {
	s := t.service(c, n, RoleConsole, published)
	own := path.Join(t.containerData(), ConsoleName(n))
	s.Name, s.Of, s.Data, s.Ports = ConsoleName(n), s.Name, yamlString(own), nil
	s.Roots = texts(t.ConsoleRoots(n, c.Keys), yamlString)
	if published {
		s.Ports = []string{fmt.Sprintf("%s:%d", t.ConsoleAddress(n), t.ConsolePort(n))}
		if c.Keys {
			s.Keys = yamlString(path.Join(own, keysDir))
		}
	}
	return s
}

// ComposeKeys returns the key directory of a node or medic, below its host's directory of a rendering.
func ComposeKeys(n Node) string { return path.Join(keysDir, identityPath(n)) }

// digest returns the same value for two topologies exactly if all their settings are equal.
func (t *Topology) digest() string {
	sum := sha256.Sum256([]byte(t.Canonical(nil)))
	return hex.EncodeToString(sum[:8])
}

// publishedAt returns the address at which clients on the machine find the node: the one in the file, which is a loopback address.
func (t *Topology) publishedAt(n Node) string {
	i := t.hostIndex(n)
	// a name: localhost, or {node}, which means nothing outside the containers' network
	if _, err := netip.ParseAddr(t.Hosts[i].Address); err != nil {
		return "127.0.0.1"
	}
	return t.Hosts[i].Address
}

// containerData returns the path in a container of the file's data directory, which is mounted at composeFile.
func (t *Topology) containerData() string {
	if path.IsAbs(t.data) {
		return path.Clean(t.data)
	}
	return path.Join(composeDir, t.data)
}

// oneMachine refuses hosts that a compose file cannot describe. A {node} address already is the address of a network of containers.
func (t *Topology) oneMachine() error {
	for _, h := range t.Hosts {
		switch {
		case h.Address == nowhere:
			return fmt.Errorf("%w: host %q has no address yet; load the topology with Addresses{Local: Published}", errNotOneMachine, h.Name)
		case h.IPC():
			return fmt.Errorf(
				"%w, whose containers share no unix sockets: host %q has the address %s; write address = \"127.0.0.1\" and ports = 5500",
				errNotOneMachine, h.Name, h.Address)
		case strings.Contains(h.Address, ":"):
			return fmt.Errorf("%w, and its ports are published for IPv4 only: host %q has the address %s; write address = \"127.0.0.1\"",
				errNotOneMachine, h.Name, h.Address)
		case !h.loopbackOnly() && (h.Address != nodeMark || len(t.Hosts) > 1):
			return fmt.Errorf("%w: host %q is at %s; write address = \"127.0.0.1\" for every host, or make a topology with one host for containers",
				errNotOneMachine, h.Name, h.Address)
		}
	}
	return nil
}

// composeSourcePath marks a relative path as a path: without ./ it would be the name of a volume.
func composeSourcePath(file string) string {
	if path.IsAbs(file) || strings.HasPrefix(file, "./") || strings.HasPrefix(file, "../") {
		return file
	}
	return "./" + file
}

// yamlName returns a node's name as a plain scalar, unless it begins with a digit: 2026-11-1 would be a date.
func yamlName(id NodeID) string {
	if id[0] <= '9' {
		return yamlString(string(id))
	}
	return string(id)
}

// yamlString is a quoted scalar. TOML's basic strings are YAML's double quoted ones; compose takes $$ for a dollar.
func yamlString(s string) string { return strings.ReplaceAll(tomlString(s), "$", "$$") }

// yamlTime returns a duration in units that both versions of compose accept.
func yamlTime(d time.Duration) string {
	if d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	}
	return unitTime(d)
}
