package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/protocol/session"
)

// askFlags are for commands that ask a running cluster.
func askFlags() []cli.Flag {
	return []cli.Flag{call.TopologyFlag(), call.EntryFlag(), call.KeyFlag(), patienceFlag()}
}

// defaultAskTimeout is how long commands that ask the cluster wait without --patience. A node that is being restarted answers sooner.
const defaultAskTimeout = 5 * time.Second

func askTimeout(c *cli.Context) time.Duration {
	if d := c.Duration("patience"); d != 0 {
		return d
	}
	return defaultAskTimeout
}

func askConfig(c *cli.Context, from entrance, id session.ID) client.Config {
	silence := askTimeout(c)
	cfg := client.Config{Entries: from.at, Keys: from.keys, Session: id, Force: true, GiveUpAfter: silence}
	if silence > 0 { // one attempt may not take longer than all of them together
		cfg.Timeout = min(silence, client.DefaultTimeout)
	}
	return cfg
}

// ask connects to the cluster and calls do. id is the session that do is about, or zero.
func (x *command) ask(c *cli.Context, id session.ID, do func(context.Context, *client.Client) error) error {
	at, err := x.entries(c)
	if err != nil {
		return err
	}
	return x.dial(c, askConfig(c, at, id), do)
}

func (x *command) dial(c *cli.Context, cfg client.Config, do func(context.Context, *client.Client) error) (err error) {
	cl, err := client.Dial(c.Context, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cl.Close()) }()
	return do(c.Context, cl)
}

// sessionArgument returns the session that a command is about.
func sessionArgument(c *cli.Context) (session.ID, error) {
	text, err := call.OneArgument(c, "session", "6ba7b810-9dad-41d1-80b4-00c04fd430c8")
	if err != nil {
		return session.ID{}, err
	}
	return session.Parse(text)
}
