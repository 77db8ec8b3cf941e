package ask

import (
	"context"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/protocol/session"
)

// SubmitSQL answers the statements of a file on a running cluster.
func SubmitSQL(x *call.Call, c *cli.Context) (err error) {
	for _, flag := range []string{"detach", "session", call.FlagDownload, "keep-results"} {
		if c.IsSet(flag) {
			return exit.Usagef("submit: --%s is for analyses, and %s holds statements; they do without", flag, c.Args().First())
		}
	}
	text, err := readText(x, c.Args().First())
	if err != nil {
		return err
	}
	journal, err := readJournal(x, c, text)
	if err != nil {
		return err
	}
	defer func() { err = journal.close(err) }()
	how := asking{now: journal.now, noWait: c.Bool("no-wait"), patience: c.Duration("patience"), journal: journal}
	return withSQL(x, c, text, how, func(r *sqlRequest) error {
		from, err := reach.Entries(x, c)
		if err != nil {
			return err
		}
		r.Cfg.Entries, r.Cfg.Keys = from.At, from.Keys
		r.Stays = true
		err = reach.Dial(x, c, reach.AskConfig(c, from, session.ID{}), func(ctx context.Context, cl *client.Client) error {
			about := cl.Info()
			return journal.open(ctx, r, &about)
		})
		if err != nil {
			return err
		}
		if err := deliver.ReportOn(x, c, r.Out.Html, from); err != nil {
			return err
		}
		return answerSQL(x, c.Context, r, x.NewProgress())
	})
}
