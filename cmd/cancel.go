package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

func (x *command) cancelCommand() *cli.Command {
	return &cli.Command{
		Name: "cancel", ArgsUsage: "SESSION",
		Usage:       "end a session everywhere; its client is told",
		Description: exitHelp,
		Flags:       askFlags(), Action: x.cancel,
	}
}

func (x *command) cancel(c *cli.Context) error {
	id, err := sessionArgument(c)
	if err != nil {
		return err
	}
	return x.ask(c, id, func(ctx context.Context, cl *client.Client) error {
		found, err := cl.Sessions(ctx)
		known := slices.ContainsFunc(found, func(s protocol.SessionInfo) bool { return s.Session == id })
		if !known && err == nil {
			return fmt.Errorf("cancel: no node knows session %s; posta sessions lists them: %w", id, protocol.ErrUnknownSession)
		}
		if !slices.ContainsFunc(found, func(s protocol.SessionInfo) bool { return s.Session == id && s.State == session.Done }) {
			err = cl.Cancel(ctx)
		} else {
			err = protocol.ErrFinished
		}
		if errors.Is(err, protocol.ErrFinished) {
			return fmt.Errorf("cancel: session %s is finished; fetch its answers with `posta results %s`, or drop them with --drop: %w", id, id, protocol.ErrFinished)
		}
		if err != nil {
			return fmt.Errorf("cancel session %s: %w; who did not hear it gives the session up after limits.client_timeout", id, err)
		}
		x.notef("session %s is cancelled", id)
		return nil
	})
}
