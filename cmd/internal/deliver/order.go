package deliver

import (
	"context"
	"errors"
	"slices"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// AnswersOf fetches the first rows of the answers of a finished session. It changes nothing: others may fetch them, too.
func AnswersOf(ctx context.Context, cfg client.Config, id session.ID) (answer *client.Answer, err error) {
	cfg.Session, cfg.Keep = id, console.KeptRows
	cl, err := client.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cl.Close()) }()
	found, err := cl.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	if answer, err = cl.Results(ctx); err != nil {
		return nil, err
	}
	answer.Analysis, _ = AnalysisOf(found, id)
	InOrder(answer, cl.Info().Analyses)
	return answer, nil
}

// AnalysisOf returns the analysis of a session, and whether a node lists the session.
func AnalysisOf(found []protocol.SessionInfo, id session.ID) (analysis string, listed bool) {
	for _, s := range found {
		if s.Session == id {
			return s.Analysis, true
		}
	}
	return "", false
}

// QueriesIn returns the names of the queries of an analysis, as the cluster reports them.
func QueriesIn(known []protocol.AnalysisInfo, analysis string) []string {
	i := slices.IndexFunc(known, func(k protocol.AnalysisInfo) bool { return k.Name == analysis })
	if i < 0 {
		return nil
	}
	return known[i].Queries
}

// InOrder puts queries into the order of their analysis. They arrived in the order in which they were finished.
func InOrder(a *client.Answer, known []protocol.AnalysisInfo) {
	queries := QueriesIn(known, a.Analysis)
	slices.SortStableFunc(a.Queries, func(p, q client.Table) int {
		return slices.Index(queries, p.Name) - slices.Index(queries, q.Name)
	})
}
