package deploy

import (
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
)

// Command returns posta deploy.
func Command(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name: "deploy", ArgsUsage: "[DIR]",
		Usage: "create or update the cluster of the topology, in containers on its hosts",
		Description: `Speaks to the Docker Engine of each host ([hosts.NAME] engine), and to nothing else there. Compares what there is with what the topology
says, prints a plan, and carries it out: ships the image (this program, or --image), makes networks, volumes and containers, waits for
every heartbeat. A second run changes nothing; after an interruption, the next run finishes the work.

New limits, memory or image: nodes are replaced one after the other, and sessions run on. Other replicas, hosts, edges or addresses: new
sessions are held back (clients wait), running ones finish, and then all nodes change at once; the data of moved nodes moves with them.

   posta deploy --plan
   posta deploy
   posta deploy status
   posta deploy logs joiner-1 -f
   posta deploy --rollback

For hosts without Docker, or that you install in another way: --render systemd writes a directory for each host, with a unit for each node and medic and the files to
copy; --render compose a compose file for each host. INSTALL.md in each says what to do there. Addresses are those of the machines.

   posta deploy --render systemd rendered

` + exit.Help,
		Flags: append([]cli.Flag{call.TopologyFlag(), call.JSONFlag(&x.json),
			&cli.BoolFlag{Name: flagPlan, Destination: &x.plan, Usage: "print what would be done, and do nothing"},
			&cli.StringFlag{Name: flagProgram, Destination: &x.program, DefaultText: "this one",
				Usage: "the static `FILE` that the image is made of"},
			&cli.StringFlag{Name: flagImage, Destination: &x.image,
				Usage: "use the image of this `NAME`, which the engine of this machine has, instead of making one (compose files: posta by default)"},
			&cli.StringFlag{Name: call.FlagRender, Destination: &x.kind,
				Usage: "write files of this `KIND` to DIR instead of deploying: systemd or compose"},
			&cli.BoolFlag{Name: flagRollback, Destination: &x.rollback,
				Usage: "go back to the last good topology, which the hosts keep, with its image"},
			&cli.BoolFlag{Name: flagLose, Destination: &x.lose,
				Usage: "deploy even if no output keeps its data; answers that clients have not fetched yet are then lost"},
			&cli.DurationFlag{Name: call.FlagTimeout, Destination: &x.beat, Value: 90 * time.Second,
				Usage: "wait at most this `TIME` for each heartbeat"}},
			x.changeFlags()...),
		Action: x.deploy,
		Subcommands: []*cli.Command{
			{Name: "status", Usage: "show the containers and data of the cluster on each host",
				Flags: []cli.Flag{call.TopologyFlag(), lostFlag()}, Action: withEngines(x.deployStatus)},
			{Name: "logs", ArgsUsage: "NODE", Usage: "print the log of a node or medic, from its host",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: call.FlagTopology, Value: "topology.toml", EnvVars: []string{"POSTA_TOPOLOGY"},
						Usage: "the `FILE` that describes the system"},
					&cli.BoolFlag{Name: "follow", Destination: &x.follow, Aliases: []string{"f"}, Usage: "continue, until Ctrl-C"},
					&cli.StringFlag{Name: "tail", Destination: &x.tail, Value: "100", Usage: "at most the last `LINES`, or all"},
				},
				Action: reach.Reader(reach.ReadTopology).WithNode("joiner-1 -f", x.deployLogs)},
		},
	}
}

// changeFlags returns the flags of commands that may have to end sessions.
func (x *command) changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{Name: flagWait, Destination: &x.wait, Value: 10 * time.Minute,
			Usage: "wait at most this `TIME` for running sessions, where they have to end"},
		&cli.BoolFlag{Name: flagCancel, Destination: &x.cancel, Usage: "cancel sessions instead of waiting for them"},
		lostFlag(),
	}
}

func lostFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: FlagLost,
		Usage: "continue without the `HOST`, which was in the topology before and does not answer; what only it had is lost"}
}

// UndeployCommand returns posta undeploy.
func UndeployCommand(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name:  "undeploy",
		Usage: "remove what posta deploy has made",
		Description: `Lets running sessions finish, stops and removes all containers and networks of the cluster, and keeps its data: the next posta
deploy continues with it. With --volumes the data goes as well. Asks first.

` + exit.Help,
		Flags: append([]cli.Flag{call.TopologyFlag(),
			&cli.BoolFlag{Name: flagVolumes, Destination: &x.volumes, Usage: "delete the data as well"},
			&cli.BoolFlag{Name: flagYes, Destination: &x.yes, Aliases: []string{"y"}, Usage: "do not ask"}}, x.changeFlags()...),
		Action: withEngines(x.undeploy),
	}
}
