package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// readTopology reads the file that -f names, for commands that show it, or that start or stop the cluster. Its local hosts have no address
// yet.
func readTopology(c *cli.Context) (*topology.Topology, error) {
	name := c.String(call.FlagTopology)
	t, err := topology.Load(name)
	if err != nil {
		return nil, noTopology(name, err)
	}
	warnInsecure(c, t)
	return t, nil
}

// loadTopology reads the file for commands that speak to the cluster. Its local hosts have the address that posta up has noted or, within
// containers, the address that --address gives.
func loadTopology(c *cli.Context) (*topology.Topology, error) {
	name, inside := c.String(call.FlagTopology), c.String(call.FlagAddress)
	if inside != "" {
		if err := topology.CheckInternal(inside); err != nil {
			return nil, exit.Usagef("--%s: %v", call.FlagAddress, err)
		}
	}
	t, err := topology.LoadWith(name, topology.Addresses{Inside: inside})
	if err != nil {
		return nil, noTopology(name, err)
	}
	warnInsecure(c, t)
	if inside != "" || !local.HasLocal(t) {
		return t, nil
	}
	address, err := local.Address(t.DataDir)
	if errors.Is(err, local.ErrNotUp) {
		return nil, fmt.Errorf("%s: %w; start it with `posta up -f %[1]s`", name, err)
	}
	if err != nil {
		return nil, err
	}
	return topology.LoadWith(name, topology.Addresses{Local: address})
}

// lookTopology is loadTopology for commands that only show the file: its local hosts may have no address.
func lookTopology(c *cli.Context) (*topology.Topology, error) {
	t, err := loadTopology(c)
	if errors.Is(err, local.ErrNotUp) {
		return readTopology(c)
	}
	return t, err
}

// topologyReader is readTopology, loadTopology or lookTopology.
type topologyReader func(*cli.Context) (*topology.Topology, error)

// with returns the action of a command about the topology that -f names.
func (read topologyReader) with(do func(*cli.Context, *topology.Topology) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		t, err := read(c)
		if err != nil {
			return err
		}
		return do(c, t)
	}
}

// withTopology returns the action of a command that speaks to the cluster.
func withTopology(do func(*cli.Context, *topology.Topology) error) cli.ActionFunc {
	return topologyReader(loadTopology).with(do)
}

// withNode returns the action of a command about one node of the topology that -f names.
func (read topologyReader) withNode(example string, do func(*cli.Context, *topology.Topology, string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		name, err := call.OneArgument(c, "node", example)
		if err != nil {
			return err
		}
		return read.with(func(c *cli.Context, t *topology.Topology) error { return do(c, t, name) })(c)
	}
}

// noTopology adds to the error about a missing file how to name or make one.
func noTopology(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no topology file %s: name it with -f, or make one with `posta topology new > %[1]s` (%w)", name, fs.ErrNotExist)
	}
	return err
}

// entrance is the endpoints that clients connect to first, and the key that they use.
type entrance struct {
	at   []string
	keys *security.Keys // nil: plain connections
	role security.Role  // of the keys, as the topology says; "" if that is not known
}

// entries returns the endpoints that clients connect to first: those of --entry, or those of the topology.
func (x *command) entries(c *cli.Context) (e entrance, err error) {
	if e.at = c.StringSlice(call.FlagEntry); len(e.at) > 0 {
		e.keys, err = x.givenKey(c)
		return e, err
	}
	t, err := loadTopology(c)
	if err != nil {
		return e, err
	}
	if e.keys, err = x.clientKeys(c, t); err != nil {
		return e, err
	}
	if e.keys != nil {
		e.role = roleOf(t, e.keys)
	}
	e.at = entryPoints(t, e.keys != nil)
	return e, nil
}

// entryPoints returns the inputs and outputs of a topology. If named is true, each endpoint carries its node's name, which the node's
// certificate has to prove.
func entryPoints(t *topology.Topology, named bool) (all []string) {
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
	wanted, err := givenHosts(c, t)
	if err != nil {
		return nil, err
	}
	names := hostNames(t)
	if len(wanted) == 0 {
		if len(t.Hosts) > 1 && slices.ContainsFunc(t.Hosts, remote) {
			return nil, exit.Usagef("%s has several hosts (%s); say which of them this machine is with --host NAME", t.File, strings.Join(names, ", "))
		}
		wanted = names
	}
	nodes := slices.DeleteFunc(t.Nodes(), func(n topology.Node) bool { return !slices.Contains(wanted, n.Host) })
	if len(nodes) == 0 {
		return nil, exit.Usagef("%s places no node on %s", t.File, strings.Join(wanted, ", "))
	}
	return nodes, nil
}

// givenHosts returns the hosts that --host names, checked; nil without --host.
func givenHosts(c *cli.Context, t *topology.Topology) ([]string, error) {
	wanted, names := c.StringSlice(call.FlagHost), hostNames(t)
	for _, w := range wanted {
		if !slices.Contains(names, w) {
			return nil, exit.Usagef("--host %s: %s has no such host; it has %s", w, t.File, strings.Join(names, ", "))
		}
	}
	return wanted, nil
}

func hostNames(t *topology.Topology) []string {
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

// localProcesses returns the processes of this machine's nodes, as posta up keeps them: their files are beside the nodes' data.
func (x *command) localProcesses(c *cli.Context) (*local.Processes, *topology.Topology, error) {
	t, err := loadTopology(c)
	if err != nil {
		return nil, nil, err
	}
	procs, err := processesOf(c, t)
	return procs, t, err
}

// processesOf returns the processes of a topology that was read already.
func processesOf(c *cli.Context, t *topology.Topology) (*local.Processes, error) {
	nodes, err := localNodes(c, t)
	if err != nil {
		return nil, err
	}
	program, err := self()
	if err != nil {
		return nil, err
	}
	return local.NewProcesses(local.Config{
		Topology: t, Nodes: nodes, Dir: t.DataDir, Program: program,
		Keys: func() (*security.Keys, error) { return memberKeys(t, nodes[0]) },
	})
}

// self returns the command line that starts this program again.
func self() ([]string, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the posta program: %w; start it by its full path", err)
	}
	return []string{exe}, nil
}

// below returns the path of a file in the directory that holds the nodes' data.
func below(t *topology.Topology, name string) string { return filepath.Join(t.DataDir, name) }
