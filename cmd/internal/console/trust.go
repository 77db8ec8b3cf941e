package console

import (
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Own returns how a console proves to clients that it is the cluster's: by its keys, or by a secret, which it makes if there is none.
func Own(t *topology.Topology, keys *security.Keys) (Trust, error) {
	return trusted(t, keys, haveSecret)
}

// Known returns how a process of this machine recognises a console. The error wraps ErrNoSecret if no console has made a secret yet.
func Known(t *topology.Topology, keys *security.Keys) (Trust, error) {
	return trusted(t, keys, ReadSecret)
}

func trusted(t *topology.Topology, keys *security.Keys, secret func(*topology.Topology) ([]byte, error)) (Trust, error) {
	if keys != nil {
		return WithKeys(keys), nil
	}
	s, err := secret(t)
	return WithSecret(s), err
}
