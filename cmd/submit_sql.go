package cmd

import (
	"context"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/protocol/session"
)

// submitSQL answers the statements of a file on a running cluster.
func (x *command) submitSQL(c *cli.Context) (err error) {
	for _, flag := range []string{"detach", "session", call.FlagDownload, "keep-results"} {
		if c.IsSet(flag) {
			return exit.Usagef("submit: --%s is for analyses, and %s holds statements; they do without", flag, c.Args().First())
		}
	}
	text, err := x.readText(c.Args().First())
	if err != nil {
		return err
	}
	journal, err := x.readJournal(c, text)
	if err != nil {
		return err
	}
	defer func() { err = journal.close(err) }()
	return x.withSQL(c, text, journal.now, func(r *sqlRequest) error {
		from, err := reach.Entries(x.Call, c)
		if err != nil {
			return err
		}
		r.cfg.Entries, r.cfg.Keys = from.At, from.Keys
		r.cfg.NoWait, r.cfg.GiveUpAfter, r.stays, r.journal = c.Bool("no-wait"), c.Duration("patience"), true, journal
		err = reach.Dial(x.Call, c, reach.AskConfig(c, from, session.ID{}), func(ctx context.Context, cl *client.Client) error {
			about := cl.Info()
			return journal.open(ctx, r, &about)
		})
		if err != nil {
			return err
		}
		if err := x.reportOn(c, r.out.html, from); err != nil {
			return err
		}
		return x.answerSQL(c.Context, r, x.NewProgress())
	})
}
