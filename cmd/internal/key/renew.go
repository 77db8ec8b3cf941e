package key

import (
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/internal/units"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/security"
)

// renew is posta key renew.
type renew struct {
	*call.Call
	within time.Duration
}

func renewCommand(base *call.Call) *cli.Command {
	x := &renew{Call: base}
	return &cli.Command{
		Name: "renew", Usage: "replace the certificates of nodes and medics that end soon, while sessions run",
		Description: `Makes another key and certificate for each node and medic whose certificate ends within --within, and has the processes of posta up
on this machine read them. The former certificates stay valid until they end, so connections and sessions stay. Says which processes it did not
reach: posta deploy brings the keys to containers.

` + exit.Help,
		Flags: []cli.Flag{call.TopologyFlag(), &cli.DurationFlag{Name: "within", Destination: &x.within, Value: security.ExpiryWarning,
			Usage: "replace certificates that end within this `TIME`"}},
		Action: withRing(x.run),
	}
}

// keyRenew replaces the certificates that end soon. No session fails: running processes keep their connections, because the former
// certificates are still valid, and use the new ones for the next.
func (x *renew) run(c *cli.Context, k keyring.Ring) error {
	if err := call.NoArguments(c); err != nil {
		return err
	}
	if x.within <= 0 {
		return exit.Usagef("key renew: --within %s is not in the future", x.within)
	}
	if err := k.IsThere(); err != nil {
		return fmt.Errorf("key renew: %w", err)
	}
	lock, err := k.Open()
	if err != nil {
		return fmt.Errorf("key renew: %w", err)
	}
	defer func() { _ = lock.Release() }()
	ca, err := k.CA(keyring.CADir)
	var made int
	if err == nil {
		made, err = keyring.Issue(x.Call, k, ca, time.Now(), x.within)
		err = errors.Join(err, k.Share())
	}
	if made > 0 {
		x.Notef("made %s in %s", units.Plural(made, "certificate"), k.Dir)
		tellProcesses(x.Call, c, k)
	}
	if err != nil {
		return fmt.Errorf("key renew: %w", err)
	}
	if made == 0 {
		x.Notef("no certificate of cluster %s ends within %s", k.Topology.Name, display.Span(x.within))
	}
	return nil
}
