package cmd

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/topology"
)

// keysInUse says that nodes, medics and clients use the keys of `posta key`. Until they do, a cluster over several machines has nothing to ask
// for. It is the one switch of rule S2 and S9: with true, what starts nodes demands keys beyond loopback.
const keysInUse = false

// checkExposure refuses a topology whose nodes strangers can reach and that has no keys for them (S2), or whose broker nobody said to trust
// (S9).
func checkExposure(t *topology.Topology) error {
	if !keysInUse {
		return nil
	}
	return exposureError(t)
}

func exposureError(t *topology.Topology) error {
	if t.Security.Insecure {
		return nil
	}
	hasKeys := keyring{dir: t.KeysDir, t: t}.isThere() == nil // those of a machine's own processes are enough: the CA stays with the operator
	if exposed := t.Exposed(); len(exposed) > 0 && !hasKeys {
		return usagef("%s: host %q listens at %s, where other machines reach it, and there are no keys in %s; make them with `posta key init -f %[1]s`, or write insecure = true below [security] to let in whoever comes",
			t.File, exposed[0].Name, exposed[0].Bind, t.KeysDir)
	}
	if hasKeys && t.OverTCP() && t.Transport != topology.ZMQ && !t.Security.TrustBroker {
		return usagef("%s: with keys only nodes that are known are believed, and transport = %q lets the broker say anything in their name; write trust_broker = true below [security], or transport = \"zmq\"",
			t.File, t.Transport)
	}
	return nil
}

// insecureWarning is what a stranger can do to a cluster with insecure = true; "" without.
func insecureWarning(t *topology.Topology) string {
	if !t.Security.Insecure {
		return ""
	}
	at := "its ports"
	if exposed := t.Exposed(); len(exposed) > 0 {
		var all []string
		for _, h := range exposed {
			all = append(all, h.Bind)
		}
		at = strings.Join(all, ", ")
	}
	return fmt.Sprintf("warning: insecure = true in %s: whoever reaches %s can read and delete answers, add rows to sessions, and make nodes drop their logs (R14); posta key init makes keys",
		t.File, at)
}

// warnInsecure warns once in each command, however often it reads the topology.
func warnInsecure(c *cli.Context, t *topology.Topology) {
	const warned = "insecure"
	text := insecureWarning(t)
	if text == "" || c.App.Metadata[warned] != nil {
		return
	}
	c.App.Metadata[warned] = true
	fmt.Fprintln(c.App.ErrWriter, text)
}
