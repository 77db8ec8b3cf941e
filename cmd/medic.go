package cmd

import (
	"errors"
	"log/slog"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/medic/agent"
	"posta.dev/posta/medic/docker"
	"posta.dev/posta/medic/systemd"
	"posta.dev/posta/topology"
)

func (x *command) medicCommand() *cli.Command {
	return &cli.Command{
		Name: "medic", ArgsUsage: "NAME",
		Usage: "run one medic of the topology in the foreground",
		Description: `What posta up starts. A medic watches all nodes and medics, elects a leader with the other medics, and restarts processes on its own host,
or on the hosts given, which must be this machine. SIGTERM ends it; kill -9 loses nothing.

   posta medic medic-1 -f topology.toml

With --docker it restarts containers: those with the labels posta.cluster and posta.node, over the engine that DOCKER_HOST names. It makes none.

   posta medic medic-1 --docker

With --systemd it restarts units: those that posta deploy --render systemd has written for its host.

` + exitHelp,
		Flags: []cli.Flag{topologyFlag(), addressFlag(), hostFlag(), dockerFlag(), systemdFlag(), logFlag()}, Action: x.medic,
	}
}

func (x *command) medic(c *cli.Context) error {
	name, err := oneArgument(c, "medic", "medic-1")
	if err != nil {
		return err
	}
	level, err := logLevel(c)
	if err != nil {
		return err
	}
	cfg := agent.Config{Medic: topology.NodeID(name), Log: slog.New(slog.NewTextHandler(x.Err, &slog.HandlerOptions{Level: level}))}
	switch {
	case c.Bool(flagDocker) && c.Bool(flagSystemd):
		return usagef("medic: --%s or --%s, not both", flagDocker, flagSystemd)
	case c.Bool(flagDocker):
		return x.dockerMedic(c, cfg)
	case c.Bool(flagSystemd):
		return systemdMedic(c, cfg)
	}
	procs, t, err := x.localProcesses(c)
	if err != nil {
		return err
	}
	defer func() { _ = procs.Close() }()
	if _, err := t.Medic(cfg.Medic); err != nil {
		return err
	}
	cfg.Topology, cfg.Hosts, cfg.Restarter = t, procs.Hosts(), procs
	return agent.Run(c.Context, cfg)
}

func dockerFlag() cli.Flag {
	return &cli.BoolFlag{Name: flagDocker, Usage: "nodes and medics are containers, found by the labels posta.cluster and posta.node"}
}

func systemdFlag() cli.Flag {
	return &cli.BoolFlag{Name: flagSystemd, Usage: "nodes and medics are units of systemd, as posta deploy --render systemd names them"}
}

// systemdMedic acts on its own host unless others are given: a systemd is one machine.
func systemdMedic(c *cli.Context, cfg agent.Config) (err error) {
	if cfg.Topology, err = loadTopology(c); err != nil {
		return err
	}
	if cfg.Hosts, err = givenHosts(c, cfg.Topology); err != nil {
		return err
	}
	cfg.Restarter = systemd.New(systemd.Config{Unit: cfg.Topology.Unit})
	return agent.Run(c.Context, cfg)
}

// dockerMedic acts on its own host unless others are given: an engine is one machine.
func (x *command) dockerMedic(c *cli.Context, cfg agent.Config) (err error) {
	if cfg.Topology, err = loadTopology(c); err != nil {
		return err
	}
	if cfg.Hosts, err = givenHosts(c, cfg.Topology); err != nil {
		return err
	}
	r, err := docker.New(docker.Config{Cluster: cfg.Topology.Name})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	cfg.Restarter = r
	return agent.Run(c.Context, cfg)
}
