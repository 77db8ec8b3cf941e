package cmd

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

func (x *command) sessionsCommand() *cli.Command {
	return &cli.Command{
		Name:        "sessions",
		Usage:       "list the sessions that run, and those whose answers wait to be fetched",
		Description: exitHelp,
		Flags:       append(askFlags(), jsonFlag()), Action: x.sessions,
	}
}

func (x *command) sessions(c *cli.Context) error {
	return x.ask(c, session.ID{}, func(ctx context.Context, cl *client.Client) error {
		found, err := cl.Sessions(ctx)
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err != nil { // the others' answers are still worth showing
			x.notef("posta: not everybody answers: %s", oneLine(err))
		}
		list := merge(found)
		if c.Bool(flagJSON) {
			return x.printSessionsJSON(list)
		}
		x.printSessions(list)
		return nil
	})
}

// sessionView is a session as all nodes together know it.
type sessionView struct {
	ID       session.ID
	Analysis string
	Owner    string // empty: the local operator's
	State    session.State
	Age      time.Duration
	Bytes    uint64 // of CSV, at inputs; of answers, at outputs
	Nodes    []string
	At       []protocol.SessionInfo // what each of them says
}

// merge makes one line of what several nodes say of a session: an output knows best how it ended, and an input how long ago it
// began. The oldest comes first.
func merge(found []protocol.SessionInfo) []sessionView {
	byID := map[session.ID]*sessionView{}
	for _, s := range found {
		v := byID[s.Session]
		if v == nil {
			v = &sessionView{ID: s.Session, State: s.State}
			byID[s.Session] = v
		}
		v.Analysis, v.Owner = cmp.Or(v.Analysis, s.Analysis), cmp.Or(v.Owner, s.Owner) // an output that has only heard of a failure knows neither
		if s.State != session.Running {
			v.State = s.State
		}
		v.Age, v.Bytes = max(v.Age, s.Age), v.Bytes+s.Bytes
		v.Nodes, v.At = append(v.Nodes, s.Node), append(v.At, s)
	}
	list := make([]sessionView, 0, len(byID))
	for _, v := range byID {
		slices.Sort(v.Nodes)
		list = append(list, *v)
	}
	slices.SortFunc(list, func(a, b sessionView) int {
		return cmp.Or(cmp.Compare(b.Age, a.Age), slices.Compare(a.ID[:], b.ID[:]))
	})
	return list
}

func (x *command) printSessions(list []sessionView) {
	if len(list) == 0 {
		x.notef("no sessions")
		return
	}
	table := display.Table{Head: []string{"session", "analysis", "state", "age", "bytes", "nodes"}, Right: []bool{3: true, 4: true}}
	owned := slices.ContainsFunc(list, func(v sessionView) bool { return v.Owner != "" })
	if owned { // in a cluster without keys all are one client's
		table.Head = append(table.Head, "owner")
	}
	for _, v := range list {
		row := []string{
			v.ID.String(), v.Analysis, string(v.State), display.Span(v.Age), display.Bytes(int64(v.Bytes)), strings.Join(v.Nodes, " "),
		}
		if owned {
			row = append(row, cmp.Or(v.Owner, "-"))
		}
		table.Rows = append(table.Rows, row)
	}
	table.Print(x.Out, "")
}

func (x *command) printSessionsJSON(list []sessionView) error {
	type nodeAt struct {
		Node  string `json:"node"`
		State string `json:"state"`
		Bytes uint64 `json:"bytes"` // of CSV at an input, of answers at an output
	}
	type line struct {
		Session  string   `json:"session"`
		Analysis string   `json:"analysis"`
		Owner    string   `json:"owner,omitempty"` // left out: the local operator's
		State    string   `json:"state"`
		AgeMS    int64    `json:"age_ms"`
		Nodes    []nodeAt `json:"nodes"`
	}
	out := make([]line, len(list))
	for i, v := range list {
		out[i] = line{v.ID.String(), v.Analysis, v.Owner, string(v.State), v.Age.Milliseconds(), nil}
		for _, s := range v.At {
			out[i].Nodes = append(out[i].Nodes, nodeAt{s.Node, string(s.State), s.Bytes})
		}
	}
	return x.printJSON(map[string]any{"sessions": out})
}
