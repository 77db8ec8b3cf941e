package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Addresses are the addresses that a file leaves open, so that one file serves processes, containers, and their clients.
type Addresses struct {
	// Local is the address of the hosts that have none in the file: "ipc:DIR", or the IP address at which containers publish their ports. ""
	// is only for looking at the file: endpoints of such hosts can then neither be bound nor dialled.
	Local string
	// Inside is for a process within a network of containers: every host has this address, which CheckInternal must have accepted. Nodes and
	// medics dial each other at it, at the ports that they listen on. Clients are outside: they get the address in the file, or Published. ""
	// is for all other processes.
	Inside string
}

// Published is the address at which the containers of a local host publish their ports: only this machine reaches it.
const Published = "127.0.0.1"

// Load reads and checks a topology file. If the file could be read, the error is of type Errors.
func Load(path string) (*Topology, error) { return LoadWith(path, Addresses{}) }

// LoadWith is Load with the addresses that the file leaves open.
func LoadWith(path string, a Addresses) (*Topology, error) {
	if name, ok := strings.CutPrefix(path, EnvPrefix); ok {
		return loadEnv(name, a)
	}
	src, err := ReadText(path)
	if err != nil {
		return nil, err
	}
	t, err := parseAs(path, src, a)
	if err != nil {
		return nil, err
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the directory of topology %s: %w; give its absolute path", path, err)
	}
	t.File = full
	t.resolveData(filepath.Dir(full))
	t.resolveKeys(filepath.Dir(full))
	return t, nil
}

// EnvPrefix before a name, instead of a path, means the text in that environment variable. So a container has its topology from the moment
// it is made, and cannot be started with half of it. A relative data directory is relative to the working directory.
const EnvPrefix = "env:"

func loadEnv(name string, a Addresses) (*Topology, error) {
	text, ok := os.LookupEnv(name)
	if !ok {
		return nil, fmt.Errorf("read the topology: there is no environment variable %s", name)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	t, err := parseAs(filepath.Join(dir, "topology.toml"), []byte(text), a)
	if err != nil {
		return nil, fmt.Errorf("environment variable %s: %w", name, err)
	}
	return t, nil
}

// ParseAt is Load for a text that is in no file, as if it were in a file at path.
func ParseAt(path string, src []byte) (*Topology, error) {
	t, err := parseAs(path, src, Addresses{})
	if err == nil {
		t.resolveKeys(filepath.Dir(path))
	}
	return t, err
}

// Parse checks the text of a topology. name is the file's name: errors contain it, and a relative data directory is relative to its
// directory. The error is always Errors.
func Parse(name string, src []byte) (*Topology, error) { return parseAs(name, src, Addresses{}) }

func parseAs(name string, src []byte, a Addresses) (*Topology, error) {
	found := &findings{file: name}
	root, ok := parseTree(src, found)
	if !ok {
		return nil, found.err()
	}
	if len(root.fields) == 0 && len(found.list) == 0 {
		found.add(Pos{1, 1}, "the file is empty",
			"write [hosts.NAME], a [[stage]] for each step and an [[edge]] between them, or begin with the text of the default topology")
		return nil, found.err()
	}
	r := &reader{found: found, at: places{}, invalid: map[string]bool{}}
	t := r.topology(root)
	r.setAddresses(t, a)
	t.File = name
	t.resolveData(filepath.Dir(name))
	c := &checker{t: t, found: found, at: r.at, invalid: r.invalid}
	c.all()
	if err := found.err(); err != nil {
		return nil, err
	}
	return t, nil
}
