package reach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/medic"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/topology/rundir"
)

// ReadTopology reads the file that -f names, for commands that show it, or that start or stop the cluster. Its local hosts have no address
// yet.
func ReadTopology(c *cli.Context) (*topology.Topology, error) {
	name := c.String(call.FlagTopology)
	t, err := topology.Load(name)
	if err != nil {
		return nil, NoTopology(name, err)
	}
	WarnInsecure(c, t)
	return t, nil
}

// LoadTopology reads the file for commands that speak to the cluster. Its local hosts have the address that posta up has noted or, within
// containers, the address that --address gives.
func LoadTopology(c *cli.Context) (*topology.Topology, error) {
	name, inside := c.String(call.FlagTopology), c.String(call.FlagAddress)
	if inside != "" {
		if err := topology.CheckInternal(inside); err != nil {
			return nil, exit.Usagef("--%s: %v", call.FlagAddress, err)
		}
	}
	t, err := topology.LoadWith(name, topology.Addresses{Inside: inside})
	if err != nil {
		return nil, NoTopology(name, err)
	}
	WarnInsecure(c, t)
	if inside != "" || !rundir.HasLocal(t) {
		return t, nil
	}
	address, err := rundir.Address(t.DataDir)
	if errors.Is(err, rundir.ErrNotUp) {
		return nil, fmt.Errorf("%s: %w; start it with `posta up -f %[1]s`", name, err)
	}
	if err != nil {
		return nil, err
	}
	return topology.LoadWith(name, topology.Addresses{Local: address})
}

// LookTopology is LoadTopology for commands that only show the file: its local hosts may have no address.
func LookTopology(c *cli.Context) (*topology.Topology, error) {
	t, err := LoadTopology(c)
	if errors.Is(err, rundir.ErrNotUp) {
		return ReadTopology(c)
	}
	return t, err
}

// Reader is ReadTopology, LoadTopology or LookTopology.
type Reader func(*cli.Context) (*topology.Topology, error)

// With returns the action of a command about the topology that -f names.
func (read Reader) With(do func(*cli.Context, *topology.Topology) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		t, err := read(c)
		if err != nil {
			return err
		}
		return do(c, t)
	}
}

// WithTopology returns the action of a command that speaks to the cluster.
func WithTopology(do func(*cli.Context, *topology.Topology) error) cli.ActionFunc {
	return Reader(LoadTopology).With(do)
}

// WithNode returns the action of a command about one node of the topology that -f names.
func (read Reader) WithNode(example string, do func(*cli.Context, *topology.Topology, string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		name, err := call.OneArgument(c, "node", example)
		if err != nil {
			return err
		}
		return read.With(func(c *cli.Context, t *topology.Topology) error { return do(c, t, name) })(c)
	}
}

// NoTopology adds to the error about a missing file how to name or make one.
func NoTopology(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no topology file %s: name it with -f, or make one with `posta topology new > %[1]s` (%w)", name, fs.ErrNotExist)
	}
	return err
}

// Entrance is the endpoints that clients connect to first, and the key that they use.
type Entrance struct {
	At   []string
	Keys *security.Keys // nil: plain connections
	Role security.Role  // of the keys, as the topology says; "" if that is not known
}

// Entries returns the endpoints that clients connect to first: those of --entry, or those of the topology.
func Entries(x *call.Call, c *cli.Context) (e Entrance, err error) {
	if e.At = c.StringSlice(call.FlagEntry); len(e.At) > 0 {
		e.Keys, err = givenKey(x, c)
		return e, err
	}
	t, err := LoadTopology(c)
	if err != nil {
		return e, err
	}
	if e.Keys, err = ClientKeys(x, c, t); err != nil {
		return e, err
	}
	if e.Keys != nil {
		e.Role = RoleOf(t, e.Keys)
	}
	e.At = EntryPoints(t, e.Keys != nil)
	return e, nil
}

// EntryPoints returns the inputs and outputs of a topology. If named is true, each endpoint carries its node's name, which the node's
// certificate has to prove.
func EntryPoints(t *topology.Topology, named bool) (all []string) {
	for _, r := range []topology.Role{topology.Input, topology.Output} {
		for _, n := range t.Holding(r) {
			at := n.Sockets.Client.Dial
			if named {
				at = client.NamedEndpoint(at, string(n.ID))
			}
			all = append(all, at)
		}
	}
	return all
}

// localNodes returns the nodes of this machine: those of the hosts that --host names. Without --host it returns all nodes if the topology
// has one host or only local ones.
func localNodes(c *cli.Context, t *topology.Topology) ([]topology.Node, error) {
	wanted, err := GivenHosts(c, t)
	if err != nil {
		return nil, err
	}
	names := HostNames(t)
	if len(wanted) == 0 {
		if len(t.Hosts) > 1 && slices.ContainsFunc(t.Hosts, remote) {
			return nil, exit.Usagef("%s has several hosts (%s); say which of them this machine is with --host NAME", t.File,
				strings.Join(names, ", "))
		}
		wanted = names
	}
	nodes := slices.DeleteFunc(t.Nodes(), func(n topology.Node) bool { return !slices.Contains(wanted, n.Host) })
	if len(nodes) == 0 {
		return nil, exit.Usagef("%s places no node on %s", t.File, strings.Join(wanted, ", "))
	}
	return nodes, nil
}

// GivenHosts returns the hosts that --host names, checked; nil without --host.
func GivenHosts(c *cli.Context, t *topology.Topology) ([]string, error) {
	wanted, names := c.StringSlice(call.FlagHost), HostNames(t)
	for _, w := range wanted {
		if !slices.Contains(names, w) {
			return nil, exit.Usagef("--host %s: %s has no such host; it has %s", w, t.File, strings.Join(names, ", "))
		}
	}
	return wanted, nil
}

// HostNames returns the names of all hosts.
func HostNames(t *topology.Topology) []string {
	var names []string
	for _, h := range t.Hosts {
		names = append(names, h.Name)
	}
	return names
}

func remote(h topology.Host) bool {
	if h.IPC() || h.Address == "localhost" {
		return false
	}
	ip, err := netip.ParseAddr(h.Address)
	return err != nil || !ip.IsLoopback()
}

// LocalProcesses returns the processes of this machine's nodes, as posta up keeps them: their files are beside the nodes' data.
func LocalProcesses(x *call.Call, c *cli.Context) (*local.Processes, *topology.Topology, error) {
	t, err := LoadTopology(c)
	if err != nil {
		return nil, nil, err
	}
	procs, err := ProcessesOf(c, t)
	return procs, t, err
}

// ProcessesOf returns the processes of a topology that was read already.
func ProcessesOf(c *cli.Context, t *topology.Topology) (*local.Processes, error) {
	nodes, err := localNodes(c, t)
	if err != nil {
		return nil, err
	}
	program, err := Self()
	if err != nil {
		return nil, err
	}
	return local.NewProcesses(local.Config{
		Topology: t, Nodes: nodes, Dir: t.DataDir, Program: program,
		Keys: func() (*security.Keys, error) { return MemberKeys(t, nodes[0]) },
	})
}

// Self returns the command line that starts this program again.
func Self() ([]string, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the posta program: %w; start it by its full path", err)
	}
	return []string{exe}, nil
}

// Below returns the path of a file in the directory that holds the nodes' data.
func Below(t *topology.Topology, name string) string { return filepath.Join(t.DataDir, name) }

// ReadAgain has running processes read their keys and [clients] again, and returns those that cannot be told.
func ReadAgain(ctx context.Context, procs *local.Processes, alive []medic.NodeID) (missed []medic.NodeID) {
	for _, id := range alive {
		if err := procs.Signal(ctx, id, syscall.SIGHUP); err != nil {
			missed = append(missed, id)
		}
	}
	return missed
}
