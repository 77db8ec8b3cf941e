package member

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/medic/process"
	"posta.dev/posta/nodes/lastlog"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/topology/rundir"
)

// command is posta node, posta medic and posta probe.
type command struct {
	*call.Call
}

// NodeCommand returns posta node.
func NodeCommand(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name: "node", ArgsUsage: "NAME",
		Usage: "run one node of the topology in the foreground",
		Description: `posta up and posta run start this for each node. Use it yourself where systemd or containers keep processes alive. SIGTERM drains the
node for limits.drain and ends it with exit code 0; kill -9 loses nothing either. SIGHUP makes it read its keys again.

   posta node joiner-1 -f topology.toml

` + exit.Help,
		Flags:  []cli.Flag{call.TopologyFlag(), call.AddressFlag(), KeysFlag(), LocalClientFlag(), LogFlag()},
		Action: reach.Reader(reach.LoadTopology).WithNode("joiner-1", x.node),
	}
}

func (x *command) node(c *cli.Context, t *topology.Topology, name string) error {
	if err := process.AwaitRecord(); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	log, err := Logger(x.Call, c)
	if err != nil {
		return err
	}
	log, lines := lastlog.In(log)
	lines.Former(process.FormerLog())
	n, err := t.Node(topology.NodeID(name))
	if err != nil {
		return err
	}
	hups := Hangups()
	keys, err := ProcessKeys(c, t, n, log)
	if err != nil {
		return err
	}
	if err := CheckCarriedBroker(t, keys); err != nil {
		return err
	}
	defer ReloadKeys(hups, keys, log)()
	if err := rundir.CheckSocketDirs(t); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	return x.RunNode(c.Context, t, n.ID, keys, log)
}

// LogFlag says from which level on a process logs.
func LogFlag() cli.Flag {
	return &cli.StringFlag{Name: "log", Value: "info", Usage: "log this `LEVEL` and above on standard error: debug, info, warn, error"}
}

// Logger reads --log.
func Logger(x *call.Call, c *cli.Context) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.String("log"))); err != nil {
		return nil, exit.Usagef("--log %s: the choices are debug, info, warn, error", c.String("log"))
	}
	to := x.Err
	if to == os.Stderr {
		to = process.Stderr()
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: level})), nil
}

// CheckCarriedBroker checks whether a node has the address of its broker. posta deploy takes the address out of the topology and delivers
// it with the keys.
func CheckCarriedBroker(t *topology.Topology, keys *security.Keys) error {
	address := keys.Broker()
	switch {
	case address == "" && t.BrokerSecretIsElsewhere():
		return exit.Usagef("the topology has no password for its broker at %s, and there is none beside the keys of this node: run posta deploy "+
			"again, which brings it", t.BrokerURL())
	case address == "" || t.Transport == topology.ZMQ:
		return nil
	}
	if _, err := t.WithBrokerAddress(address); err != nil {
		return fmt.Errorf("read the address of the broker beside %s: %w; run posta deploy again, which brings it", keys, err)
	}
	return nil
}
