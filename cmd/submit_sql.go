package cmd

import (
	"github.com/urfave/cli/v2"
)

// submitSQL answers the statements of a file on a running cluster.
func (x *command) submitSQL(c *cli.Context) error {
	for _, flag := range []string{"detach", "session", "resume", flagDownload, "keep-results"} {
		if c.IsSet(flag) {
			return usagef("submit: --%s is for analyses, and %s holds statements; they do without", flag, c.Args().First())
		}
	}
	text, err := x.readText(c.Args().First())
	if err != nil {
		return err
	}
	return x.withSQL(c, text, func(r *sqlRequest) error {
		from, err := x.entries(c)
		if err != nil {
			return err
		}
		r.cfg.Entries, r.cfg.Keys = from.at, from.keys
		r.cfg.NoWait, r.cfg.GiveUpAfter, r.stays = c.Bool("no-wait"), c.Duration("patience"), true
		if err := x.answers(c, from); err != nil {
			return err
		}
		if err := x.reportOn(c, r.out.html, from); err != nil {
			return err
		}
		return x.answerSQL(c.Context, r, x.newProgress())
	})
}
