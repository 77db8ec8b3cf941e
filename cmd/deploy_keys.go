package cmd

import (
	"fmt"

	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// unitKeys is the keys of all nodes and medics by name, none if the operator has made none or the topology does without (insecure = true).
func unitKeys(t *topology.Topology) (map[string]security.Bundle, error) {
	k := keyring{dir: t.KeysDir, t: t}
	if !keyed(t) {
		return nil, nil
	}
	keys := map[string]security.Bundle{}
	for _, id := range k.processes() {
		b, err := security.ReadBundle(k.home(id), t.Name, id)
		if err != nil {
			return nil, fmt.Errorf("read the keys of %s: %w; posta key init -f %s makes what is missing, revoked or expiring", id, err, t.File)
		}
		keys[id.Name] = b
	}
	return keys, nil
}

// keyed reports whether nodes and medics have keys.
func keyed(t *topology.Topology) bool {
	k := keyring{dir: t.KeysDir, t: t}
	return !t.Security.Insecure && (k.has(caDir) || k.has(string(security.Node)))
}

// digests is what a plan knows of keys.
func digests(keys map[string]security.Bundle) map[string]string {
	all := map[string]string{}
	for unit, b := range keys {
		all[unit] = b.Digest()
	}
	return all
}
