package deploy

import (
	"fmt"
	"slices"

	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// UnitKeys returns the keys of all nodes and medics by name. It returns none if the topology needs none: only this machine reaches the
// cluster, or insecure = true. broker is the broker's address, which nodes get with their keys; "" if they need none.
func UnitKeys(t *topology.Topology, broker string) (map[string]security.Bundle, error) {
	k := keyring.Of(t)
	if err := reach.DemandKeys(t, keyring.Keyed(t)); err != nil || !keyring.Keyed(t) {
		return nil, err
	}
	keys := map[string]security.Bundle{}
	for _, id := range k.Processes() {
		address := broker
		if id.Role == security.Medic {
			address = "" // no medic speaks to the broker
		}
		b, err := security.ReadBundle(k.Home(id), t.Name, id, address)
		if err != nil {
			return nil, fmt.Errorf("read the keys of %s: %w; posta key init -f %s makes what is missing, revoked or expiring", id, err, t.File)
		}
		keys[id.Name] = b
	}
	for _, m := range t.MedicNodes() {
		if t.ConsoleAddress(m) != "" {
			keys[topology.ConsoleName(m)] = keys[string(m.ID)]
		}
	}
	return keys, nil
}

// withLocalClient adds the client of this machine, if there is one, to the clients that containers admit. Containers do not see the
// directory of keys.
func withLocalClient(t *topology.Topology) (*topology.Topology, error) {
	key, err := keyring.Of(t).LocalKey()
	if err != nil || key == "" {
		return t, err
	}
	own := *t
	own.Clients = append(slices.Clone(t.Clients), topology.Client{Name: keyring.LocalClient, Key: key, Role: security.Operate})
	return &own, nil
}

// Digests returns the digests of keys, for a plan.
func Digests(keys map[string]security.Bundle) map[string]string {
	all := map[string]string{}
	for unit, b := range keys {
		all[unit] = b.Digest()
	}
	return all
}
