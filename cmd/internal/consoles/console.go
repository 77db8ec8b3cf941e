package consoles

import (
	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/member"
)

// Command returns posta console.
func Command(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name: "console", Usage: "show the cluster in a browser: nodes, sessions and incidents, live",
		Description: `Prints a link and serves the pages until Ctrl-C. The link lets one browser in, once; then the next link is printed. The console only listens to the
cluster: nothing depends on it, and several may run.

   posta console
   posta console --data DIR              answers SQL over the files below DIR
   posta console --listen 127.0.0.1:0

Where the topology has console = "127.0.0.1:8080" below [medics], medics serve the same pages, as long as one of them lives. A link to them, which lets in
one browser within a minute:

   posta console --login

It proves who you are with your key, or in a cluster without keys by a file that only the user of the cluster can read.

Users who may operate the cluster can also kill and stop its nodes and medics from the pages, as posta chaos does; --watch leaves that out.

It serves /metrics of all nodes for Prometheus (docs/metrics.md), with --metrics-token also to scrapers.

The link and that token are its only protection, so it listens only where no other machine reaches it. To see it from elsewhere: ssh -L 8080:127.0.0.1:8080 HOST

` + exit.Help,
		Flags: []cli.Flag{call.TopologyFlag(), call.KeyFlag(), call.AddressFlag(), call.HostFlag(), call.DockerFlag(),
			&cli.StringFlag{Name: call.FlagData, Usage: "answer statements over the files below `DIR`, or over one file"},
			&cli.StringSliceFlag{Name: call.FlagFile,
				Usage: "`TABLE=PATH`: the files of a table; a pattern in quotes, or an address (https://..., s3://...); may be repeated"},
			&cli.BoolFlag{Name: "watch", Destination: &x.watch, Usage: "show no button that kills or stops anything"},
			&cli.StringFlag{Name: "listen", Destination: &x.listen, Value: "127.0.0.1:8080",
				Usage: "serve at this `ADDRESS` of this machine; port 0 takes any that is free"},
			&cli.BoolFlag{Name: "login", Destination: &x.login, Usage: "print a link to the console that medics serve, and end"},
			&cli.StringFlag{Name: member.FlagOf, Destination: &x.of, Hidden: true,
				Usage: "serve the console of this `MEDIC`, which has started this process"},
			&cli.BoolFlag{Name: "alone", Destination: &x.alone, Hidden: true,
				Usage: "with --of: in a container of its own, and not beside the medic"},
			&cli.StringFlag{Name: "console-bind", Destination: &x.bind, Hidden: true,
				Usage: "with --of: serve at this `IP` of a container, where published ports lead, like 0.0.0.0"},
			call.Hidden(member.KeysFlag()), member.LocalClientFlag(), call.Hidden(call.SystemdFlag()), call.Hidden(member.LogFlag()),
			&cli.StringFlag{Name: "metrics-token", Destination: &x.token,
				Usage: "let in scrapers of /metrics that bring the token in this `FILE`, which only you can read"}},
		Action: x.run,
	}
}

func (x *command) run(c *cli.Context) error {
	if x.login {
		return x.printLink(c)
	}
	begin := x.ofPerson
	if x.of != "" {
		begin = x.ofMedic
	}
	h, err := begin(c)
	if err != nil {
		return err
	}
	defer h.end()
	return x.serve(c, h)
}
