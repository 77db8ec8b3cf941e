package run

import (
	"context"
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/upload"
	"posta.dev/posta/nodes/inprocess"
	"posta.dev/posta/protocol"
	"posta.dev/posta/query"
	"posta.dev/posta/topology"
)

const flagInProcess = "in-process"

// Small is the default of --in-process, in bytes. Tests of processes replace it.
var Small int64 = query.DefaultSmall

// inProcessFlag says up to which size of the data no processes are started.
func inProcessFlag() cli.Flag {
	return &cli.StringFlag{Name: flagInProcess, DefaultText: "64MiB; any size if a control group allows less than 768MiB of memory",
		Usage: "up to this `SIZE` of what is read, answer within this process, with a log in memory; 0 always starts processes, as do " +
			"--html and the flags that shape a cluster or say where it is"}
}

// Limit returns how many bytes a command may read so that a node within its process answers; 0 if its flags need processes.
func Limit(c *cli.Context) (int64, error) {
	limit := inprocess.UpTo(Small)
	if text := c.String(flagInProcess); text != "" {
		size, err := topology.ParseSize(text)
		if err != nil && text != "0" {
			return 0, exit.Usagef("--in-process %s: give a size like 64MiB, or 0", text)
		}
		limit = int64(size)
	}
	for _, f := range []string{call.FlagTopology, "replicas", "split-parsers", "set", "sockets", "transport", "dir", "keep", "verbose",
		deliver.FlagHTML} {
		if !c.IsSet(f) || c.Command.Name == "sql" && f == call.FlagTopology {
			continue
		}
		if limit > 0 && c.IsSet(flagInProcess) {
			return 0, exit.Usagef("--%s needs processes, and --in-process %s may start none; leave one of the two out", f,
				c.String(flagInProcess))
		}
		return 0, nil
	}
	return limit, nil
}

// Node starts a node within this process for requests like r. It has to be closed.
func Node(x *call.Call, r *upload.Request) (*inprocess.Nodes, error) {
	cfg := inprocess.Config{Known: x.Analyses, Dirs: []string{r.Cfg.Dir}}
	for _, n := range r.Cfg.Named {
		cfg.Files = append(cfg.Files, n.Path)
	}
	return inprocess.Chain(cfg)
}

// errOver ends a node whose command has its answer.
var errOver = errors.New("the command is over")

// InProcess starts a node within this process for one command and calls ask. It stops the node even if ask fails.
func InProcess(x *call.Call, ctx context.Context, r *upload.Request,
	ask func(ctx context.Context, show *display.Progress) error) (err error) {
	n, err := Node(x, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close(errOver)) }()
	ctx, done := n.During(ctx)
	defer done()
	r.Cfg.Entries, r.Cfg.Ask = n.Entries(), n.Ask()
	err = ask(ctx, x.NewProgress())
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, inprocess.ErrNoRoom) {
		return cause
	}
	return err
}

// reads estimates how many bytes an analysis reads; known is false unless all its files are regular ones.
func reads(ctx context.Context, cfg *client.Config, a *analyses.Analysis) (bytes int64, known bool) {
	for _, n := range cfg.Named { // to look at others could open a pipe
		if info, err := os.Stat(n.Path); err != nil || !info.Mode().IsRegular() {
			return 0, false
		}
	}
	in := client.NewInput(cfg.Dir, cfg.Named, nil, cfg.Comma)
	defer func() { _ = in.Close() }() // nothing was sampled, so nothing is open
	for _, s := range a.Streams {
		some := in.Bytes(ctx, protocol.Stream{Name: s.Name, Files: s.Files})
		if some == 0 {
			return 0, false
		}
		bytes += some
	}
	return bytes, true
}
