package deliver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"posta.dev/posta/internal/units"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/download"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/protocol"
)

// Downloads says where files go that answers point to, and where they may come from.
type Downloads struct {
	dir     string // "" for none
	private bool
}

// ReadDownloads reads --download.
func ReadDownloads(c *cli.Context) Downloads {
	return Downloads{c.String(call.FlagDownload), c.Bool(call.FlagDownloadPrivate)}
}

// CheckDownload refuses, before the session begins, a download that cannot work.
func CheckDownload(x *call.Call, c *cli.Context, analysis string) error {
	if c.String(call.FlagDownload) == "" {
		return nil
	}
	if c.Bool("detach") {
		return exit.Usagef("submit: --download needs the answers, and --detach does not wait for them; give it to posta results ID")
	}
	a, err := x.Analyses.Find(analysis)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(a.Queries, func(q analyses.Query) bool { return q.Download != "" }) {
		return exit.Usagef("%s: --download: no answer of %s points to a file", c.Command.Name, analysis)
	}
	return makeDir(c.String(call.FlagDownload), call.FlagDownload)
}

// Download saves the files that an answer points to. The answer is complete without them, so a failure is a note and not an error.
func Download(x *call.Call, ctx context.Context, a *client.Answer, d Downloads) error {
	if d.dir == "" {
		return nil
	}
	if err := makeDir(d.dir, call.FlagDownload); err != nil {
		return err
	}
	known, err := x.Analyses.Find(a.Analysis)
	if err != nil {
		x.Notef("warning: nothing downloaded: %s", exit.OneLine(err))
		return nil
	}
	for _, q := range known.Queries {
		if q.Download == "" {
			continue
		}
		saved, err := d.first(ctx, a.Query(q.Name), q)
		switch {
		case errors.Is(context.Cause(ctx), exit.ErrInterrupted):
			return exit.ErrInterrupted
		case err != nil:
			x.Notef("warning: nothing downloaded for %s: %s", q.Name, exit.OneLine(err))
		default:
			x.Notef("%s: %s saved as %s", q.Name, units.Bytes(saved.Bytes), display.Escape(saved.Path))
		}
	}
	return nil
}

// errNothingToFetch is the reason if there is no file although there was no error.
var errNothingToFetch = errors.New("the answer has no row")

// first saves the file that the first row of an answer points to.
func (d Downloads) first(ctx context.Context, t *client.Table, q analyses.Query) (download.Saved, error) {
	if t == nil {
		return download.Saved{}, errNothingToFetch
	}
	column := slices.Index(t.Columns, q.Download)
	if column < 0 {
		return download.Saved{}, fmt.Errorf("the cluster's answer has no column %q; is it of another version?", q.Download)
	}
	for row := range t.All() {
		if v := row[column]; v.Kind == protocol.Text {
			return download.Limits{Private: d.private}.Save(ctx, v.Text, d.dir, q.Name)
		}
		return download.Saved{}, fmt.Errorf("%s is not text", q.Download)
	}
	return download.Saved{}, errNothingToFetch
}

// makeDir makes the directory that a flag names, if it was given.
func makeDir(dir, flag string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make a directory for the answers: %w; give another one with --%s", err, flag)
	}
	return nil
}

// DownloadFlags say where files go that answers point to.
func DownloadFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: call.FlagDownload,
			Usage: "save the file that an answer's first row points to in `DIR`, like a meme's picture; if it " +
				"cannot be fetched, that is only a warning"},
		&cli.BoolFlag{Name: call.FlagDownloadPrivate,
			Usage: "let --download fetch from this machine and from private networks, too: whoever wrote the data chose the address"},
	}
}
