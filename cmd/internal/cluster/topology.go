package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"posta.dev/posta/internal/units"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/cmd/internal/member"
	"posta.dev/posta/cmd/internal/out"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/nodes"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// TopologyCommand returns posta topology.
func TopologyCommand(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name: "topology", Usage: "check, show, draw or make the file that describes the system, or a compose file from it",
		Description: exit.Help,
		Subcommands: []*cli.Command{
			{Name: "check", ArgsUsage: "[FILE]", Usage: "report what is wrong with the file, line by line; print a summary if nothing is",
				Flags: []cli.Flag{call.TopologyFlag()}, Action: withArgument(reach.ReadTopology, x.topologyCheck)},
			{Name: "show", ArgsUsage: "[FILE]", Usage: "show the stages with their nodes and ports, and the edges between them",
				Flags: []cli.Flag{call.TopologyFlag(), call.JSONFlag(&x.json)}, Action: withArgument(reach.LookTopology, x.topologyShow)},
			{Name: "graph", ArgsUsage: "[FILE]", Usage: "draw the pipeline as SVG",
				Flags: []cli.Flag{call.TopologyFlag(), &cli.StringFlag{Name: call.FlagOut, Destination: &x.out,
					Usage: "write it to `FILE`, instead of standard output"}},
				Action: withArgument(reach.LookTopology, x.topologyGraph)},
			{Name: "compose", ArgsUsage: "[FILE]",
				Usage: "write a compose file, which runs containers instead of processes; they need the image that `make image` makes",
				Flags: []cli.Flag{call.TopologyFlag(), &cli.StringFlag{Name: call.FlagOut, Destination: &x.out, Value: "-",
					Usage: "write it to `FILE`; - is standard output"},
					&cli.StringFlag{Name: "image", Destination: &x.image, Value: "posta", Usage: "`NAME` of the image"},
					&cli.BoolFlag{Name: member.FlagKeys, Destination: &x.keys, Usage: "make keys if there are none, as posta up does"}},
				Action: withArgument(publishedTopology, x.topologyCompose)},
			{Name: "published", ArgsUsage: "[FILE]",
				Usage:       "note that containers run the cluster, so that commands find it at the ports that they publish",
				Description: "make up and make down do this for hosts without an address.\n\n" + exit.Help,
				Flags: []cli.Flag{call.TopologyFlag(), &cli.BoolFlag{Name: flagEnd, Destination: &x.end,
					Usage: "note that containers no longer run it"}},
				Action: withArgument(reach.ReadTopology, x.topologyPublished)},
			{Name: "new", Usage: "print a topology with its comments, to begin with",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "replicas", Usage: "`STAGE=N,...` or all=N"},
					&cli.BoolFlag{Name: "split-parsers", Usage: "make the parsers a stage of their own"},
					&cli.StringSliceFlag{Name: "set", Usage: "set `KEY=VALUE` in the file, like limits.window=1MiB; may be repeated"},
					&cli.StringFlag{Name: "sockets", Destination: &x.sockets,
						Usage: "put the unix sockets of a cluster on one machine into `DIR`, which has to exist (default: a directory that posta up makes)"},
				}, Action: x.topologyNew},
		},
	}
}

// withArgument returns the action of a command about the topology that is given as an argument, or else with -f.
func withArgument(read reach.Reader, do func(*cli.Context, *topology.Topology) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		switch c.NArg() {
		case 0:
		case 1:
			if err := c.Set(call.FlagTopology, c.Args().First()); err != nil {
				return err
			}
		default:
			return exit.Usagef("%s: give one file, not %d", call.CommandName(c), c.NArg())
		}
		return read.With(do)(c)
	}
}

func (x *command) topologyCheck(c *cli.Context, t *topology.Topology) error {
	if err := reach.CheckExposure(t); err != nil {
		return err
	}
	x.warnOfFewFiles(t)
	x.Printf("%s: ok, %s on %s\n", t.File, units.Plural(len(t.Nodes()), "node"), units.Plural(len(t.Hosts), "host"))
	return nil
}

// warnOfFewFiles warns about nodes that need more file descriptors than a process may have here.
func (x *command) warnOfFewFiles(t *topology.Topology) {
	limit := zmqx.OpenFiles()
	most, node := 0, topology.NodeID("")
	for _, n := range t.Nodes() {
		if need := nodes.Descriptors(t, n); need > most {
			most, node = need, n.ID
		}
	}
	if most > limit {
		x.Notef("warning: %s needs %d file descriptors, and a process may have %d here; raise the limit (ulimit -n, or LimitNOFILE= of a "+
			"unit) where it runs", node, most, limit)
	}
}

func (x *command) topologyShow(c *cli.Context, t *topology.Topology) error {
	if x.json {
		e := json.NewEncoder(x.Out)
		e.SetIndent("", "  ")
		return e.Encode(t.View())
	}
	x.Printf("%s", t.Text())
	return nil
}

func (x *command) topologyGraph(c *cli.Context, t *topology.Topology) error {
	return x.writeOut("picture", t.SVG())
}

// writeOut writes a text to the file of --out, or else to standard output.
func (x *command) writeOut(what, text string) error {
	name := x.out
	if name == "" || name == "-" {
		x.Printf("%s", text)
		return nil
	}
	f, err := out.CreateFile(name)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	return nil
}

func (x *command) topologyNew(c *cli.Context) error {
	v, err := reach.Variant(c)
	if err != nil {
		return err
	}
	if dir := x.sockets; dir != "" {
		if v.IPCDir, err = filepath.Abs(dir); err != nil {
			return fmt.Errorf("find the directory %s: %w; give its full path", dir, err)
		}
		if info, err := os.Stat(v.IPCDir); err != nil {
			return exit.Usagef("--sockets %s: %v; make the directory first, or name another one", dir, err)
		} else if !info.IsDir() {
			return exit.Usagef("--sockets %s: it is not a directory; name one", dir)
		}
	}
	text, err := topology.Generate(v)
	if err != nil {
		return reach.AsUsage(err)
	}
	x.Printf("%s", text)
	return nil
}

func (x *command) topologyCompose(c *cli.Context, t *topology.Topology) error {
	var err error
	if x.keys {
		err = keyring.LocalKeys(x.Call, t)
	}
	if err == nil {
		err = reach.DemandKeys(t, keyring.Keyed(t))
	}
	if err != nil {
		return err
	}
	name := x.out
	dir := "."
	if name != "-" {
		dir = filepath.Dir(name)
	}
	own, err := keyring.Of(t).LocalKey()
	if err != nil {
		return err
	}
	text, err := t.Compose(topology.Compose{Local: string(own), Image: x.image, File: fileFrom(dir, c.String(call.FlagTopology), t.File),
		Again: again(c), Keys: keyring.Keyed(t)})
	if err != nil {
		return exit.Usagef("%s: %v", t.File, err)
	}
	return x.writeOut("compose file", text)
}

// fileFrom returns the path by which a compose file in dir names the topology. The path is relative if the user gave a relative one,
// because then the two files are moved together.
func fileFrom(dir, given, full string) string {
	if filepath.IsAbs(given) {
		return full
	}
	from, err := filepath.Abs(dir)
	if err != nil {
		return full
	}
	rel, err := filepath.Rel(from, full)
	if err != nil {
		return full
	}
	return filepath.ToSlash(rel)
}

// again returns the command that writes the same file once more.
func again(c *cli.Context) string {
	words := []string{"posta topology compose"}
	for _, f := range []struct{ flag, def string }{{call.FlagTopology, "topology.toml"}, {"image", "posta"}, {call.FlagOut, "-"}} {
		if v := c.String(f.flag); v != f.def {
			words = append(words, "--"+f.flag, display.Escape(v))
		}
	}
	if c.Bool(member.FlagKeys) {
		words = append(words, "--"+member.FlagKeys)
	}
	return strings.Join(words, " ")
}
