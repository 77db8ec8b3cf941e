package cmd

import (
	"context"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
)

func (x *command) resultsCommand() *cli.Command {
	return &cli.Command{
		Name: "results", ArgsUsage: "SESSION",
		Usage:       "fetch the answers of a session, waiting for them if it still runs",
		Description: "The cluster keeps the answers for limits.results_ttl, or until --drop deletes them.\n\n" + exit.Help,
		Flags: slices.Concat(reach.AskFlags(), outFlags(), downloadFlags(), []cli.Flag{call.JSONFlag(nil),
			&cli.BoolFlag{Name: "drop", Usage: "delete the session from the cluster when its answers are here"}}),
		Action: x.results,
	}
}

func (x *command) results(c *cli.Context) error {
	id, err := reach.SessionArgument(c)
	if err != nil {
		return err
	}
	o, err := x.readOutput(c)
	if err != nil {
		return err
	}
	at, err := reach.Entries(x.Call, c)
	if err != nil {
		return err
	}
	if at.Role == security.Watch {
		return exit.Usagef("results: %s have the role watch, which reads no answers; name the key that opened the session with --%s DIR or POSTA_KEY",
			at.Keys, call.FlagKey)
	}
	if err := x.answers(c, at); err != nil {
		return err
	}
	if err := x.reportOn(c, o.html, at); err != nil {
		return err
	}
	// From here on the command waits for a silent cluster as long as an upload waits.
	cfg := client.Config{Entries: at.At, Keys: at.Keys, Session: id, Force: true, Keep: o.keep(), GiveUpAfter: c.Duration("patience")}
	return x.fetchResults(c, cfg, o, readDownloads(c))
}

// fetchResults prints the answers of a session that another command has run.
func (x *command) fetchResults(c *cli.Context, cfg client.Config, o output, d downloads) error {
	id := cfg.Session
	return reach.Dial(x.Call, c, cfg, func(ctx context.Context, cl *client.Client) error {
		found, err := cl.Sessions(ctx)
		analysis, listed := analysisOf(found, id)
		if err == nil && !listed {
			var done context.CancelFunc
			ctx, done = withoutSession(ctx, "results", id)
			defer done()
		}
		var queries []client.Table
		for _, name := range queriesIn(cl.Info().Analyses, analysis) {
			queries = append(queries, client.Table{Name: name})
		}
		if err := o.prepare(ctx, analysis, queries); err != nil {
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
		inOrder(answer, cl.Info().Analyses)
		o.html.ran(answer)
		if err := x.deliver(ctx, answer, o); err != nil {
			return err
		}
		if err := x.printAnswer(answer, o); err != nil {
			return err
		}
		if err := x.download(ctx, answer, d); err != nil {
			return err
		}
		if c.Bool("drop") {
			return cl.Finish(ctx)
		}
		return nil
	})
}

// analysisOf returns the analysis of a session, and whether a node lists the session.
func analysisOf(found []protocol.SessionInfo, id session.ID) (analysis string, listed bool) {
	for _, s := range found {
		if s.Session == id {
			return s.Analysis, true
		}
	}
	return "", false
}

// queriesIn returns the names of the queries of an analysis, as the cluster reports them.
func queriesIn(known []protocol.AnalysisInfo, analysis string) []string {
	i := slices.IndexFunc(known, func(k protocol.AnalysisInfo) bool { return k.Name == analysis })
	if i < 0 {
		return nil
	}
	return known[i].Queries
}

// inOrder puts queries into the order of their analysis. They arrived in the order in which they were finished.
func inOrder(a *client.Answer, known []protocol.AnalysisInfo) {
	queries := queriesIn(known, a.Analysis)
	slices.SortStableFunc(a.Queries, func(p, q client.Table) int {
		return slices.Index(queries, p.Name) - slices.Index(queries, q.Name)
	})
}
