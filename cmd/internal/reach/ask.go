package reach

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// AskFlags are for commands that ask a running cluster.
func AskFlags() []cli.Flag {
	return []cli.Flag{call.TopologyFlag(), call.EntryFlag(), call.KeyFlag(), PatienceFlag()}
}

// DefaultAskTimeout is how long commands that ask the cluster wait without --patience. A node that is being restarted answers sooner.
const DefaultAskTimeout = 5 * time.Second

// AskTimeout reads --patience.
func AskTimeout(c *cli.Context) time.Duration {
	if d := c.Duration("patience"); d != 0 {
		return d
	}
	return DefaultAskTimeout
}

// AskConfig configures a client that asks a running cluster.
func AskConfig(c *cli.Context, from Entrance, id session.ID) client.Config {
	silence := AskTimeout(c)
	cfg := client.Config{Entries: from.At, Keys: from.Keys, Session: id, Force: true, GiveUpAfter: silence}
	if silence > 0 { // one attempt may not take longer than all of them together
		cfg.Timeout = min(silence, client.DefaultTimeout)
	}
	return cfg
}

// Ask connects to the cluster and calls do. id is the session that do is about, or zero.
func Ask(x *call.Call, c *cli.Context, id session.ID, do func(context.Context, *client.Client) error) error {
	at, err := Entries(x, c)
	if err != nil {
		return err
	}
	return Dial(x, c, AskConfig(c, at, id), do)
}

// Dial connects to the cluster of cfg and calls do.
func Dial(x *call.Call, c *cli.Context, cfg client.Config, do func(context.Context, *client.Client) error) (err error) {
	cl, err := client.Dial(c.Context, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cl.Close()) }()
	return do(c.Context, cl)
}

// SessionArgument returns the session that a command is about.
func SessionArgument(c *cli.Context) (session.ID, error) {
	text, err := call.OneArgument(c, "session", "6ba7b810-9dad-41d1-80b4-00c04fd430c8")
	if err != nil {
		return session.ID{}, err
	}
	return session.Parse(text)
}

// PatienceFlag returns how long a cluster may be silent before a command gives up. Commands that only ask give up sooner than uploads.
func PatienceFlag() cli.Flag {
	return &cli.DurationFlag{Name: "patience", DefaultText: "5s before anything was heard, 1m after",
		Usage: "give up when nothing at all answers for this `TIME`"}
}

// CheckAnswers checks whether there is a cluster at all: a user who mistyped an address should not wait as long as a user whose cluster
// restarts.
func CheckAnswers(x *call.Call, c *cli.Context, at Entrance) error {
	cl, err := client.Dial(c.Context, AskConfig(c, at, session.ID{}))
	if err != nil {
		return err
	}
	return cl.Close()
}

// SessionsOf asks a cluster for its sessions over a new connection, so that it finds nodes that have moved since.
func SessionsOf(ctx context.Context, cfg client.Config) (all []protocol.SessionInfo, err error) {
	cl, err := client.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cl.Close()) }()
	return cl.Sessions(ctx)
}

// AskedFor is how long inputs and outputs have to report the running sessions. Nodes and medics are shown even if they do not answer.
const AskedFor = time.Second
