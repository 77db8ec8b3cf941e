package sessions

import (
	"context"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
)

// ResultsCommand returns posta results.
func ResultsCommand(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name: "results", ArgsUsage: "SESSION",
		Usage:       "fetch the answers of a session, waiting for them if it still runs",
		Description: "The cluster keeps the answers for limits.results_ttl, or until --drop deletes them.\n\n" + exit.Help,
		Flags: slices.Concat(reach.AskFlags(), deliver.OutFlags(), deliver.DownloadFlags(), []cli.Flag{call.JSONFlag(nil),
			&cli.BoolFlag{Name: "drop", Usage: "delete the session from the cluster when its answers are here"}}),
		Action: x.results,
	}
}

func (x *command) results(c *cli.Context) error {
	id, err := reach.SessionArgument(c)
	if err != nil {
		return err
	}
	o, err := deliver.ReadOutput(x.Call, c)
	if err != nil {
		return err
	}
	at, err := reach.Entries(x.Call, c)
	if err != nil {
		return err
	}
	if at.Role == security.Watch {
		return exit.Usagef("results: %s have the role watch, which reads no answers; name the key that opened the session with --%s DIR or "+
			"POSTA_KEY",
			at.Keys, call.FlagKey)
	}
	if err := reach.CheckAnswers(x.Call, c, at); err != nil {
		return err
	}
	if err := deliver.ReportOn(x.Call, c, o.Html, at); err != nil {
		return err
	}
	// From here on the command waits for a silent cluster as long as an upload waits.
	cfg := client.Config{Entries: at.At, Keys: at.Keys, Session: id, Force: true, Keep: o.Keep(), GiveUpAfter: c.Duration("patience")}
	return FetchResults(x.Call, c, cfg, o, deliver.ReadDownloads(c))
}

// FetchResults prints the answers of a session that another command has run.
func FetchResults(x *call.Call, c *cli.Context, cfg client.Config, o deliver.Output, d deliver.Downloads) error {
	id := cfg.Session
	return reach.Dial(x, c, cfg, func(ctx context.Context, cl *client.Client) error {
		found, err := cl.Sessions(ctx)
		analysis, listed := deliver.AnalysisOf(found, id)
		if err == nil && !listed {
			var done context.CancelFunc
			ctx, done = WithoutSession(ctx, "results", id)
			defer done()
		}
		var queries []client.Table
		for _, name := range deliver.QueriesIn(cl.Info().Analyses, analysis) {
			queries = append(queries, client.Table{Name: name})
		}
		if err := o.Prepare(ctx, analysis, queries); err != nil {
			return err
		}
		answer, err := cl.Results(ctx)
		if !listed && errors.Is(err, protocol.ErrUnknownSession) {
			return unknownSession("results", id)
		}
		if err != nil {
			return err
		}
		answer.Analysis = analysis
		deliver.InOrder(answer, cl.Info().Analyses)
		o.Html.Ran(answer)
		if err := deliver.Deliver(x, ctx, answer, o); err != nil {
			return err
		}
		if err := deliver.PrintAnswer(x, answer, o); err != nil {
			return err
		}
		if err := deliver.Download(x, ctx, answer, d); err != nil {
			return err
		}
		if c.Bool("drop") {
			return cl.Finish(ctx)
		}
		return nil
	})
}
