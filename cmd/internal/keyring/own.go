package keyring

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// OwnClient returns the directory with the key of the user of this command, if --key does not name it. If only this machine reaches the
// cluster, the key that posta up has made is tried first.
func (k Ring) OwnClient() (string, error) {
	if k.HasLocal() && len(k.Topology.Exposed()) == 0 {
		return k.LocalHome(), nil
	}
	var looked []string
	if config, err := os.UserConfigDir(); err == nil {
		dir := filepath.Join(config, "posta", "keys", k.Topology.Name)
		if _, err := os.Lstat(dir); err == nil {
			return dir, nil
		}
		looked = append(looked, dir)
	}
	names, err := filepath.Glob(filepath.Join(k.At(string(security.Client)), "*", "key.pem"))
	if err != nil {
		return "", err
	}
	switch len(names) {
	case 0:
		return "", exit.Usagef("cluster %s has keys, and there is no key for you in %s or in %s: ask the operator for one (posta key new NAME "+
			"--role submit), and name its directory with --%s or POSTA_KEY",
			k.Topology.Name, strings.Join(looked, ", "), k.At(string(security.Client)), call.FlagKey)
	case 1:
		return filepath.Dir(names[0]), nil
	}
	return "", exit.Usagef("there are %d keys of clients in %s: say which is yours with --%s DIR or POSTA_KEY", len(names),
		k.At(string(security.Client)), call.FlagKey)
}

// Keyed reports whether nodes and medics have keys.
func Keyed(t *topology.Topology) bool {
	return !t.Security.Insecure && Of(t).ForProcesses()
}

// OwnKeys returns the directory in which a node or medic looks for its keys if no flag names one; "" if no process has keys. If other
// processes of the cluster have keys and this one has none, it does not start: no process would talk to it.
func OwnKeys(t *topology.Topology, n topology.Node) (string, error) {
	dir := filepath.Join(t.KeysDir, filepath.FromSlash(n.Identity().String()))
	_, err := os.Lstat(dir)
	if err == nil {
		return dir, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for the keys of %s: %w", n.ID, err)
	}
	if k := Of(t); k.ForProcesses() {
		return "", exit.Usagef("%s has no keys in %s, and others of cluster %s have: make them with `posta key init -f %s`", n.ID, t.KeysDir,
			t.Name, t.File)
	}
	return "", nil
}
