package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol/session"
)

// askFlags are for commands that ask a running cluster.
func askFlags() []cli.Flag { return []cli.Flag{topologyFlag(), entryFlag(), keyFlag(), patienceFlag()} }

// defaultAskTimeout bounds how long a question to the cluster takes at a prompt. A node that is being restarted answers sooner.
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
	if silence > 0 { // one try is no longer than all of them may be
		cfg.Timeout = min(silence, client.DefaultTimeout)
	}
	return cfg
}

// ask connects to the cluster, for a session or for none, and does something with it.
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

// sessionArgument is the session a command is about.
func sessionArgument(c *cli.Context) (session.ID, error) {
	text, err := oneArgument(c, "session", "6ba7b810-9dad-41d1-80b4-00c04fd430c8")
	if err != nil {
		return session.ID{}, err
	}
	return session.Parse(text)
}
