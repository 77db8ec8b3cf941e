package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// CancelCommand returns posta cancel.
func CancelCommand(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name: "cancel", ArgsUsage: "SESSION",
		Usage:       "end a session everywhere; its client is told",
		Description: exit.Help,
		Flags:       append(reach.AskFlags(), call.JSONFlag(nil)), Action: x.cancel,
	}
}

func (x *command) cancel(c *cli.Context) error {
	id, err := reach.SessionArgument(c)
	if err != nil {
		return err
	}
	return reach.Ask(x.Call, c, id, func(ctx context.Context, cl *client.Client) error {
		known, finished, err := lookFor(ctx, cl, id, reach.AskTimeout(c))
		if !known && err == nil {
			return notListed(ctx, cl, id)
		}
		if !finished {
			err = cl.Cancel(ctx)
		} else {
			err = protocol.ErrFinished
		}
		if errors.Is(err, protocol.ErrFinished) {
			return fmt.Errorf("cancel: session %s is finished; fetch its answers with `posta results %s`, or drop them with --drop: %w", id, id,
				protocol.ErrFinished)
		}
		if err != nil {
			return fmt.Errorf("cancel session %s: %w; nodes that did not hear it give the session up after limits.client_timeout", id, err)
		}
		x.Notef("session %s is cancelled", id)
		if c.Bool(call.FlagJSON) {
			return x.PrintJSON(CancelJSON{Session: id.String(), Cancelled: true})
		}
		return nil
	})
}

// lookFor asks all nodes for a session, until each has answered or the time is over. One silence proves nothing: an output that stands
// still may have the answers, and the inputs, which hear of that later, would take the session for cancelled if they were told so before.
func lookFor(ctx context.Context, cl *client.Client, id session.ID, patience time.Duration) (known, finished bool, err error) {
	for end := time.Now().Add(patience); ; {
		var found []protocol.SessionInfo
		found, err = cl.Sessions(ctx)
		for _, s := range found {
			known = known || s.Session == id
			finished = finished || s.Session == id && s.State == session.Done
		}
		var refused *protocol.Error
		if err == nil || finished || errors.As(err, &refused) || !time.Now().Before(end) {
			return known, finished, err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return known, finished, err
		}
	}
}

// notListed returns how a session ended that no node lists. If a node remembers the session, it answers at once when it is asked for the
// session's answers.
func notListed(ctx context.Context, cl *client.Client, id session.ID) error {
	ctx, done := WithoutSession(ctx, "cancel", id)
	defer done()
	_, err := cl.Results(ctx)
	switch {
	case err == nil, errors.Is(err, protocol.ErrClosed):
		return fmt.Errorf("cancel: session %s is finished and closed: there is nothing to cancel: %w", id, protocol.ErrFinished)
	case errors.Is(err, protocol.ErrUnknownSession):
		return unknownSession("cancel", id)
	}
	return fmt.Errorf("cancel: session %s is over: %w", id, err)
}

// WithoutSession limits how long the cluster is asked for a session that no node lists. A node that remembers the session answers at once;
// if no node remembers it, no answer would ever come.
func WithoutSession(ctx context.Context, command string, id session.ID) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, reach.DefaultAskTimeout, unknownSession(command, id))
}

func unknownSession(command string, id session.ID) error {
	return fmt.Errorf("%s: no node knows session %s; it was dropped, is older than limits.results_ttl, or belongs to another cluster; "+
		"posta sessions lists those that are kept: %w", command, id, protocol.ErrUnknownSession)
}

// CancelJSON is what `posta cancel --json` prints.
type CancelJSON struct {
	Session   string `json:"session"`
	Cancelled bool   `json:"cancelled"`
}
