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
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// readTopology reads the file that -f names, for commands that look at it or change what is up. Its local hosts are nowhere.
func readTopology(c *cli.Context) (*topology.Topology, error) {
	name := c.String(flagTopology)
	t, err := topology.Load(name)
	if err != nil {
		return nil, noTopology(name, err)
	}
	warnInsecure(c, t)
	return t, nil
}

// loadTopology reads the file for commands that speak to the cluster: local hosts are where posta up has noted it, or, within containers,
// where the --address says that some commands have.
func loadTopology(c *cli.Context) (*topology.Topology, error) {
	name, inside := c.String(flagTopology), c.String(flagAddress)
	if inside != "" {
		if err := topology.CheckInternal(inside); err != nil {
			return nil, usagef("--%s: %v", flagAddress, err)
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

// lookTopology is loadTopology for commands that show the file: local hosts may be nowhere.
func lookTopology(c *cli.Context) (*topology.Topology, error) {
	t, err := loadTopology(c)
	if errors.Is(err, local.ErrNotUp) {
		return readTopology(c)
	}
	return t, err
}

// topologyReader is one of the three above.
type topologyReader func(*cli.Context) (*topology.Topology, error)

// with is a command about the topology that -f names.
func (read topologyReader) with(do func(*cli.Context, *topology.Topology) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		t, err := read(c)
		if err != nil {
			return err
		}
		return do(c, t)
	}
}

// withTopology is a command that speaks to the cluster.
func withTopology(do func(*cli.Context, *topology.Topology) error) cli.ActionFunc {
	return topologyReader(loadTopology).with(do)
}

// withNode is a command about one node of the topology that -f names.
func (read topologyReader) withNode(example string, do func(*cli.Context, *topology.Topology, string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		name, err := oneArgument(c, "node", example)
		if err != nil {
			return err
		}
		return read.with(func(c *cli.Context, t *topology.Topology) error { return do(c, t, name) })(c)
	}
}

// noTopology says more of a file that is not there.
func noTopology(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no topology file %s: name it with -f, or make one with `posta topology new > %[1]s` (%w)", name, fs.ErrNotExist)
	}
	return err
}

// entrance is where clients begin, and with which key.
type entrance struct {
	at   []string
	keys *security.Keys // nil: plain connections
}

// entries is the endpoints that clients begin with: those given, or those of the topology.
func (x *command) entries(c *cli.Context) (e entrance, err error) {
	if e.at = c.StringSlice(flagEntry); len(e.at) > 0 {
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
	e.at = entryPoints(t, e.keys != nil)
	return e, nil
}

// entryPoints is the inputs and outputs of a topology, with their names where it has to be certain who answers.
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

// localNodes is the nodes of this machine: those of the hosts given, or all if every host is on this machine for sure.
func localNodes(c *cli.Context, t *topology.Topology) ([]topology.Node, error) {
	wanted, err := givenHosts(c, t)
	if err != nil {
		return nil, err
	}
	names := hostNames(t)
	if len(wanted) == 0 {
		if len(t.Hosts) > 1 && slices.ContainsFunc(t.Hosts, remote) {
			return nil, usagef("%s has several hosts (%s); say which of them this machine is with --host NAME", t.File, strings.Join(names, ", "))
		}
		wanted = names
	}
	nodes := slices.DeleteFunc(t.Nodes(), func(n topology.Node) bool { return !slices.Contains(wanted, n.Host) })
	if len(nodes) == 0 {
		return nil, usagef("%s places no node on %s", t.File, strings.Join(wanted, ", "))
	}
	return nodes, nil
}

// givenHosts is what --host says, checked; nil if it says nothing.
func givenHosts(c *cli.Context, t *topology.Topology) ([]string, error) {
	wanted, names := c.StringSlice(flagHost), hostNames(t)
	for _, w := range wanted {
		if !slices.Contains(names, w) {
			return nil, usagef("--host %s: %s has no such host; it has %s", w, t.File, strings.Join(names, ", "))
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

// localProcesses is the processes of this machine's nodes, as posta up keeps them: their files are beside the nodes' data.
func (x *command) localProcesses(c *cli.Context) (*local.Processes, *topology.Topology, error) {
	t, err := loadTopology(c)
	if err != nil {
		return nil, nil, err
	}
	procs, err := processesOf(c, t)
	return procs, t, err
}

// processesOf is the processes of a topology that was read.
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

// self is how this program is started again.
func self() ([]string, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the posta program: %w; start it by its full path", err)
	}
	return []string{exe}, nil
}

// below is a file in the directory that holds the nodes' data.
func below(t *topology.Topology, name string) string { return filepath.Join(t.DataDir, name) }
