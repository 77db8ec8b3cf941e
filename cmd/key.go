package cmd

import (
	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

const (
	flagRotateCA = "rotate-ca"
	flagRole     = "role"
	flagWithin   = "within"
)

func (x *command) keyCommand() *cli.Command {
	return &cli.Command{
		Name: "key", Usage: "make, list and revoke the keys of a cluster that other machines can reach",
		Description: `Keys are in the directory that [security] keys names. It holds the key of the cluster's certificate authority (CA), so it stays with the
operator. Each node, medic and client has a directory below it, ROLE/NAME, and needs no other. No command prints a private key.

` + exit.Help,
		Subcommands: []*cli.Command{
			{Name: "init", Usage: "make the CA, and a certificate for each node and medic of the topology that has none",
				Description: `Prints what it made. Existing keys and certificates stay, except certificates that are revoked or expire within 30 days: they are replaced.

A CA is replaced in three steps, and sessions run on if the keys are brought to all processes after each of them: with --rotate-ca
a second CA is trusted; with --rotate-ca again it signs; with --rotate-ca once more the first one is no longer trusted. If the
command is killed in a step, it finishes that step when it is said again, and takes no other.

` + exit.Help,
				Flags:  []cli.Flag{call.TopologyFlag(), &cli.BoolFlag{Name: flagRotateCA, Usage: "take the next step of replacing the CA"}},
				Action: withKeys(x.keyInit)},
			{Name: "new", ArgsUsage: "NAME", Usage: "make a key for a client, and print the line that lets it in",
				Description: `   posta key new alice --role submit

` + exit.Help,
				Flags: []cli.Flag{call.TopologyFlag(),
					&cli.StringFlag{Name: flagRole,
						Usage: "what the client may do: submit (its own sessions), watch (status and metrics) or operate (everything)"},
					&cli.StringFlag{Name: call.FlagOut, Usage: "write the key to `DIR`, instead of client/NAME of the directory of keys"}},
				Action: withKeys(x.keyNew)},
			{Name: "list", Usage: "list all keys: whose they are, until when they are valid, and which are revoked",
				Description: "Warns about certificates that expire within 30 days.\n\n" + exit.Help,
				Flags:       []cli.Flag{call.TopologyFlag(), call.JSONFlag()}, Action: withKeys(x.keyList)},
			{Name: "renew", Usage: "replace the certificates of nodes and medics that end soon, while sessions run",
				Description: `Makes another key and certificate for each node and medic whose certificate ends within --within, and has the processes of posta up
on this machine read them. The former certificates stay valid until they end, so connections and sessions stay. Says which processes it did not
reach: posta deploy brings the keys to containers.

` + exit.Help,
				Flags: []cli.Flag{call.TopologyFlag(), &cli.DurationFlag{Name: flagWithin, Value: security.ExpiryWarning,
					Usage: "replace certificates that end within this `TIME`"}},
				Action: withKeys(x.keyRenew)},
			{Name: "revoke", ArgsUsage: "NAME", Usage: "refuse a key from now on",
				Description: `   posta key revoke alice
   posta key revoke node/joiner-1

The processes of posta up on this machine refuse the key at once, and end its connections. The command says which nodes and medics it did not
reach: posta deploy brings the list of revoked keys to containers.

` + exit.Help,
				Flags: []cli.Flag{call.TopologyFlag()}, Action: withKeys(x.keyRevoke)},
		},
	}
}

// withKeys returns the action of a command about the keys of a topology.
func withKeys(do func(*cli.Context, keyring) error) cli.ActionFunc {
	return topologyReader(readTopology).with(func(c *cli.Context, t *topology.Topology) error {
		return do(c, keyring{dir: t.KeysDir, t: t})
	})
}
