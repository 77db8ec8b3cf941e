package cmd

import (
	"log/slog"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/nodes/server"
)

func (x *command) natsCommand() *cli.Command {
	return &cli.Command{
		Name:  "nats",
		Usage: "run the NATS server of a topology with nats.embedded, in the foreground",
		Description: `What posta up starts beside the nodes, for whoever has another way to keep processes alive: systemd, containers. Frames of transport
"nats" go through it. It listens on the host and port of url in [nats], and keeps its streams in data there. Nodes wait for it and lose nothing
while it is away; kill -9 loses nothing either.

   posta nats -f topology.toml

` + exitHelp,
		Flags: []cli.Flag{topologyFlag(), logFlag()}, Action: x.nats,
	}
}

func (x *command) nats(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	level, err := logLevel(c)
	if err != nil {
		return err
	}
	t, err := loadTopology(c)
	if err != nil {
		return err
	}
	return server.Run(c.Context, t, slog.New(slog.NewTextHandler(x.Err, &slog.HandlerOptions{Level: level})))
}
