package sessions

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"posta.dev/posta/internal/units"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/protocol/session"
)

// command is posta sessions, posta results and posta cancel.
type command struct {
	*call.Call
}

// Command returns posta sessions.
func Command(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name:        "sessions",
		Usage:       "list the sessions that run, and those whose answers wait to be fetched",
		Description: exit.Help,
		Flags:       append(reach.AskFlags(), call.JSONFlag(nil)), Action: x.sessions,
	}
}

func (x *command) sessions(c *cli.Context) error {
	return reach.Ask(x.Call, c, session.ID{}, func(ctx context.Context, cl *client.Client) error {
		found, err := cl.Sessions(ctx)
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err != nil { // the answers of the other nodes are still worth showing
			x.Notef("posta: not all nodes answer: %s", exit.OneLine(err))
		}
		list := monitor.Merge(found)
		if c.Bool(call.FlagJSON) {
			return printSessionsJSON(x.Call, list)
		}
		printSessions(x.Call, list)
		return nil
	})
}

// printSessions prints sessions as a table.
func printSessions(x *call.Call, list []monitor.Session) {
	if len(list) == 0 {
		x.Notef("no sessions")
		return
	}
	table := display.Table{Head: []string{"session", "analysis", "state", "age", "bytes", "nodes"}, Right: []bool{3: true, 4: true}}
	reads := slices.ContainsFunc(list, func(v monitor.Session) bool { return v.FilesSize > 0 })
	if reads {
		table.Head = append(table.Head, "files read")
	}
	owned := slices.ContainsFunc(list, func(v monitor.Session) bool { return v.Owner != "" })
	if owned { // without keys, all sessions belong to the same client
		table.Head = append(table.Head, "owner")
	}
	asked := slices.ContainsFunc(list, func(v monitor.Session) bool { return v.Asks != "" })
	if asked {
		table.Head = append(table.Head, "asks")
	}
	for i := range list {
		v := &list[i]
		row := []string{
			v.ID.String(), v.Analysis, string(v.State), display.Span(v.Age), units.Bytes(int64(v.Bytes)), strings.Join(v.Nodes, " "),
		}
		if reads {
			row = append(row, cmp.Or(v.Files(), "-"))
		}
		if owned {
			row = append(row, cmp.Or(v.Owner, "-"))
		}
		if asked {
			row = append(row, display.Escape(display.Shortened(v.Asks)))
		}
		table.Rows = append(table.Rows, row)
	}
	table.Print(x.Out, "")
}

// printSessionsJSON prints sessions as JSON.
func printSessionsJSON(x *call.Call, list []monitor.Session) error {
	type nodeAt struct {
		Node  string `json:"node"`
		State string `json:"state"`
		Bytes uint64 `json:"bytes"` // CSV at an input, answers at an output
	}
	type line struct {
		Session  string   `json:"session"`
		Analysis string   `json:"analysis"`
		Owner    string   `json:"owner,omitempty"` // left out for the local operator
		Asks     string   `json:"asks,omitempty"`  // for a session of statements: the first statement, shortened, and its pass
		State    string   `json:"state"`
		AgeMS    int64    `json:"age_ms"`
		Nodes    []nodeAt `json:"nodes"`
		monitor.FilesJSON
	}
	out := make([]line, len(list))
	for i := range list {
		v := &list[i]
		out[i] = line{v.ID.String(), v.Analysis, v.Owner, v.Asks, string(v.State), v.Age.Milliseconds(), nil, monitor.FilesAsJSON(v)}
		for _, s := range v.At {
			out[i].Nodes = append(out[i].Nodes, nodeAt{s.Node, string(s.State), s.Bytes})
		}
	}
	return x.PrintJSON(map[string]any{"sessions": out})
}
