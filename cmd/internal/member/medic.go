package member

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/medic/agent"
	"posta.dev/posta/medic/docker"
	"posta.dev/posta/medic/process"
	"posta.dev/posta/medic/systemd"
	"posta.dev/posta/topology"
)

// MedicCommand returns posta medic.
func MedicCommand(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name: "medic", ArgsUsage: "NAME",
		Usage: "run one medic of the topology in the foreground",
		Description: `posta up starts this for each medic. A medic watches all nodes and medics, elects a leader with the other medics, and restarts processes on its own host,
or on the hosts given, which must be this machine. SIGTERM ends it; kill -9 loses nothing.
SIGHUP makes it read its keys again. If the topology has console below [medics], it keeps a process beside it that serves the console.

   posta medic medic-1 -f topology.toml

With --docker it restarts containers: those with the labels posta.cluster and posta.node, over the engine that DOCKER_HOST names. It creates none.

   posta medic medic-1 --docker

There the console is another container, which posta topology compose and posta deploy write: it does not get the engine's socket.

With --systemd it restarts units: those that posta deploy --render systemd has written for its host.

` + exit.Help,
		Flags: []cli.Flag{call.TopologyFlag(), call.AddressFlag(), call.HostFlag(), call.DockerFlag(), call.SystemdFlag(), KeysFlag(),
			LocalClientFlag(), LogFlag()},
		Action: x.medic,
	}
}

func (x *command) medic(c *cli.Context) (err error) {
	name, err := call.OneArgument(c, "medic", "medic-1")
	if err != nil {
		return err
	}
	if err := process.AwaitRecord(); err != nil {
		return fmt.Errorf("medic: %w", err)
	}
	cfg := agent.Config{Medic: topology.NodeID(name)}
	if cfg.Log, err = Logger(x.Call, c); err != nil {
		return err
	}
	inDocker, inSystemd := c.Bool(call.FlagDocker), c.Bool(call.FlagSystemd)
	if inDocker && inSystemd {
		return exit.Usagef("medic: --%s or --%s, not both", call.FlagDocker, call.FlagSystemd)
	}
	if !inDocker && !inSystemd {
		procs, t, err := reach.LocalProcesses(x.Call, c)
		if err != nil {
			return err
		}
		defer func() { _ = procs.Close() }()
		cfg.Topology, cfg.Hosts, cfg.Restarter = t, procs.Hosts(), procs
		return x.runMedic(c, cfg)
	}
	if cfg.Topology, err = reach.LoadTopology(c); err != nil {
		return err
	}
	// A Docker engine and a systemd belong to one machine. Without --host that is the medic's own.
	if cfg.Hosts, err = reach.GivenHosts(c, cfg.Topology); err != nil {
		return err
	}
	cfg.Restarter = systemd.New(systemd.Config{Unit: cfg.Topology.Unit})
	if inDocker {
		r, err := docker.New(docker.Config{Cluster: cfg.Topology.Name})
		if err != nil {
			return err
		}
		defer func() { _ = r.Close() }() // it has only connections
		cfg.Restarter = r
		cfg.Leave = func(ctx context.Context, n topology.Node, name string, data []byte) error {
			dir, err := filepath.Abs(n.DataDir) // all containers mount the topology in the same place
			if err != nil {
				return err
			}
			return r.Leave(ctx, n.ID, dir, name, data)
		}
	}
	return x.runMedic(c, cfg)
}

func (x *command) runMedic(c *cli.Context, cfg agent.Config) error {
	n, err := cfg.Topology.Medic(cfg.Medic)
	if err != nil {
		return err
	}
	hups := Hangups()
	if cfg.Keys, err = ProcessKeys(c, cfg.Topology, n, cfg.Log); err != nil {
		return err
	}
	defer ReloadKeys(hups, cfg.Keys, cfg.Log)()
	shown, err := x.consoleCompanion(c, cfg.Topology, n)
	if err != nil {
		return err
	}
	if shown != nil {
		shown.Log = cfg.Log
	}
	defer beside(c.Context, shown, cfg.Keys)()
	return agent.Run(c.Context, cfg)
}
