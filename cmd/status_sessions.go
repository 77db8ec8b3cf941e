package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/protocol/session"
)

const (
	// askedFor is how long inputs and outputs have to report the running sessions. Nodes and medics are shown even if they do not answer.
	askedFor = time.Second
	// mostRunning is how many sessions `posta status` shows; `posta sessions` has all.
	mostRunning = 16
)

// running asks which sessions run, if heartbeats say that there are any. So `posta status` costs an idle cluster nothing. If a cluster does
// not answer, the command waits 2*askedFor at most.
func (x *command) running(ctx context.Context, cfg client.Config, view []monitor.Status) ([]monitor.Session, error) {
	if !slices.ContainsFunc(view, func(s monitor.Status) bool { return s.Heard && s.Beat.Sessions > 0 }) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*askedFor) // includes the time to dial
	defer cancel()
	found, err := sessionsOf(ctx, cfg)
	return slices.DeleteFunc(monitor.Merge(found), func(s monitor.Session) bool { return s.State != session.Running }), err
}

// sessionLines returns a line for each running session, the oldest first.
func sessionLines(running []monitor.Session) (lines []string) {
	for i, s := range running {
		if i == mostRunning {
			return append(lines, fmt.Sprintf("and %s more that run: posta sessions", display.Plural(len(running)-i, "session")))
		}
		line := fmt.Sprintf("session %s: %s, runs for %s, %s", s.ID, display.Escape(cmp.Or(s.Analysis, "not known yet")), display.Span(s.Age),
			display.Bytes(int64(s.Bytes)))
		if files := s.Files(); files != "" {
			line += ", files " + files
		}
		if s.Owner != "" {
			line += ", of " + display.Escape(s.Owner)
		}
		if s.Asks != "" {
			line += ": " + display.Escape(shortened(s.Asks))
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
	filesJSON
}

// filesJSON is how far the client of a session is with its files. It is left out if the client does not tell it.
type filesJSON struct {
	FilesRead uint64 `json:"files_read,omitempty"` // in a unit of the client's, usually bytes
	FilesSize uint64 `json:"files_size,omitempty"`
	LeftMS    int64  `json:"left_ms,omitempty"` // until all is read; left out if it is not known
}

func filesAsJSON(s *monitor.Session) filesJSON {
	return filesJSON{s.FilesRead, s.FilesSize, s.FilesLeft.Milliseconds()}
}

func runningAsJSON(running []monitor.Session) []runningJSON {
	out := make([]runningJSON, len(running))
	for i := range running {
		s := &running[i]
		out[i] = runningJSON{s.ID.String(), s.Analysis, s.Owner, s.Asks, s.Age.Milliseconds(), s.Bytes, filesAsJSON(s)}
	}
	return out
}
