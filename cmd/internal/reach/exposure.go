package reach

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/topology"
)

// CheckExposure refuses a topology whose nodes strangers can reach, unless there are keys for them here (S2). It refuses a broker that
// nobody has declared trusted (S9). The keys of this machine's own processes suffice, because the CA stays with the operator.
func CheckExposure(t *topology.Topology) error {
	return DemandKeys(t, keyring.Of(t).IsThere() == nil)
}

// DemandKeys is CheckExposure for callers that know whether the processes have keys.
func DemandKeys(t *topology.Topology, haveKeys bool) error {
	exposed := t.Exposed()
	switch {
	case t.Security.Insecure:
	case len(exposed) > 0 && !haveKeys:
		return exit.Usagef("%s: host %q listens at %s, where other machines reach it, and there are no keys in %s; make them with `posta key "+
			"init "+
			"-f %[1]s`, or write insecure = true below [security] to let anyone in",
			t.File, exposed[0].Name, exposed[0].Bind, t.KeysDir)
	case haveKeys && t.OverTCP() && t.Transport != topology.ZMQ && !t.Security.TrustBroker && (len(exposed) > 0 || !t.BrokerIsLocal()):
		return exit.Usagef("%s: with keys, nodes believe known nodes only, but with transport = %q the broker could say anything in their name; "+
			"write trust_broker = true below [security], or transport = \"zmq\"",
			t.File, t.Transport)
	}
	return nil
}

// insecureWarning returns what a stranger can do to a cluster with insecure = true; "" without it.
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
	return fmt.Sprintf("warning: insecure = true in %s: whoever reaches %s can read and delete answers, add rows to sessions, and make "+
		"nodes drop their logs (R14); posta key init makes keys",
		t.File, at)
}

// WarnInsecure warns once in each command, however often it reads the topology.
func WarnInsecure(c *cli.Context, t *topology.Topology) {
	const warned = "insecure"
	text := insecureWarning(t)
	if text == "" || c.App.Metadata[warned] != nil {
		return
	}
	c.App.Metadata[warned] = true
	fmt.Fprintln(c.App.ErrWriter, text)
}
