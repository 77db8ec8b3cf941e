package cmd

import (
	"log/slog"

	"github.com/urfave/cli/v2"

	"posta/medic/station"
	"posta/topology"
)

func (x *command) medicCommand() *cli.Command {
	return &cli.Command{
		Name: "medic", ArgsUsage: "NAME",
		Usage: "run one medic of the topology in the foreground",
		Description: `What posta up starts. A medic watches all nodes and medics, elects a leader with the other medics, and restarts processes on its own host,
or on the hosts given, which must be this machine. SIGTERM ends it; kill -9 loses nothing.

   posta medic medic-1 -f topology.toml

` + exitHelp,
		Flags: []cli.Flag{topologyFlag(), addressFlag(), hostFlag(), logFlag()}, Action: x.medic,
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
	crew, t, err := x.crewOf(c)
	if err != nil {
		return err
	}
	defer func() { _ = crew.Close() }()
	if _, err := t.Medic(topology.NodeID(name)); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(x.Err, &slog.HandlerOptions{Level: level}))
	return station.Run(c.Context, station.Config{Topology: t, Medic: topology.NodeID(name), Hosts: crew.Hosts(), Restarter: crew, Log: log})
}
