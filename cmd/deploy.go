package cmd

import "github.com/urfave/cli/v2"

func (x *command) deployCommand() *cli.Command {
	return &cli.Command{
		Name: "deploy", ArgsUsage: "DIR",
		Usage: "write what each host of the topology needs to run its nodes and medics",
		Description: `--render systemd writes a directory for each host: a unit for each node and medic, and the files to copy; --render compose a compose
file for each host. INSTALL.md in each says what to do there. Addresses are those of the machines.

   posta deploy --render systemd rendered

` + exitHelp,
		Flags: []cli.Flag{
			topologyFlag(),
			&cli.StringFlag{Name: flagRender, Usage: "`KIND` of what is written: systemd or compose"},
			&cli.StringFlag{Name: "image", Value: "posta", Usage: "`NAME` of the image in compose files"},
		},
		Action: x.deploy,
	}
}

func (x *command) deploy(c *cli.Context) error { return x.render(c) }
