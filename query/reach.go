package query

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"posta.dev/posta/client"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/topology/rundir"
)

// keyVariable names the environment variable with the directory of the user's key.
const keyVariable = "POSTA_KEY"

// reach reads how a cluster is reached from its topology file.
func reach(file, key string) (e Entrance, err error) {
	t, err := topology.Load(file)
	if err != nil {
		return e, fmt.Errorf("read the topology of the cluster: %w", err)
	}
	if rundir.HasLocal(t) {
		address, err := rundir.Address(t.DataDir)
		if err != nil {
			return e, fmt.Errorf("%s: %w; start it with `posta up -f %[1]s`", file, err)
		}
		if t, err = topology.LoadWith(file, topology.Addresses{Local: address}); err != nil {
			return e, fmt.Errorf("read the topology of the cluster: %w", err)
		}
	}
	if e.Keys, err = keysFor(t, key); err != nil {
		return e, err
	}
	for _, r := range []topology.Role{topology.Input, topology.Output} {
		for _, n := range t.Holding(r) {
			at := n.Sockets.Client.Dial
			if e.Keys != nil {
				at = client.NamedEndpoint(at, string(n.ID))
			}
			e.Entries = append(e.Entries, at)
		}
	}
	return e, nil
}

// keysFor reads the key of this program's user; nil for a cluster whose sockets need none.
func keysFor(t *topology.Topology, dir string) (*security.Keys, error) {
	if !t.OverTCP() || t.Security.Insecure {
		return nil, nil
	}
	if dir == "" {
		dir = os.Getenv(keyVariable)
	}
	if dir == "" {
		dir = filepath.Join(t.KeysDir, string(security.Client), "local") // of posta up, for its user
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			if len(t.Exposed()) > 0 {
				return nil, fmt.Errorf("cluster %s has keys, and there is none for you in %s: ask the operator for one (posta key new NAME --role "+
					"submit), and name its directory in Config.Key or %s", t.Name, dir, keyVariable)
			}
			return nil, nil
		}
	}
	keys, err := security.Load(dir, t.Name, nil)
	if err != nil {
		return nil, fmt.Errorf("read your key: %w", err)
	}
	return keys, nil
}
