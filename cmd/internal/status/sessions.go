package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/protocol/session"
)

// mostRunning is how many sessions `posta status` shows; `posta sessions` has all.
const mostRunning = 16

// running asks which sessions run, if heartbeats say that there are any. So `posta status` costs an idle cluster nothing. If a cluster does
// not answer, the command waits 2*AskedFor at most.
func (x *command) running(ctx context.Context, cfg client.Config, view []monitor.Status) ([]monitor.Session, error) {
	if !slices.ContainsFunc(view, func(s monitor.Status) bool { return s.Heard && s.Beat.Sessions > 0 }) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*reach.AskedFor) // includes the time to dial
	defer cancel()
	found, err := reach.SessionsOf(ctx, cfg)
	return slices.DeleteFunc(monitor.Merge(found), func(s monitor.Session) bool { return s.State != session.Running }), err
}

// sessionLines returns a line for each running session, the oldest first.
func sessionLines(running []monitor.Session) (lines []string) {
	for i, s := range running {
		if i == mostRunning {
			return append(lines, fmt.Sprintf("and %s more that run: posta sessions", units.Plural(len(running)-i, "session")))
		}
		line := fmt.Sprintf("session %s: %s, runs for %s, %s", s.ID, display.Escape(cmp.Or(s.Analysis, "not known yet")), display.Span(s.Age),
			units.Bytes(int64(s.Bytes)))
		if files := s.Files(); files != "" {
			line += ", files " + files
		}
		if s.Owner != "" {
			line += ", of " + display.Escape(s.Owner)
		}
		if s.Asks != "" {
			line += ": " + display.Escape(display.Shortened(s.Asks))
		}
		lines = append(lines, line)
	}
	return lines
}

// runningJSON is a session that runs, in `posta status --json`.
type runningJSON struct {
	Session  string `json:"session"`
	Analysis string `json:"analysis"`
	Owner    string `json:"owner,omitempty"` // left out for the local operator
	Asks     string `json:"asks,omitempty"`  // for a session of SQL: the statement, shortened, and its pass
	AgeMS    int64  `json:"age_ms"`
	Bytes    uint64 `json:"bytes"`
	monitor.FilesJSON
}

func runningAsJSON(running []monitor.Session) []runningJSON {
	out := make([]runningJSON, len(running))
	for i := range running {
		s := &running[i]
		out[i] = runningJSON{s.ID.String(), s.Analysis, s.Owner, s.Asks, s.Age.Milliseconds(), s.Bytes, monitor.FilesAsJSON(s)}
	}
	return out
}
