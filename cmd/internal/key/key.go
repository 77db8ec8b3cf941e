package key

import (
	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
)

// Command returns posta key with the commands below it.
func Command(x *call.Call) *cli.Command {
	return &cli.Command{
		Name: "key", Usage: "make, list and revoke the keys of a cluster that other machines can reach",
		Description: `Keys are in the directory that [security] keys names. It holds the key of the cluster's certificate authority (CA), so it stays with the
operator. Each node, medic and client has a directory below it, ROLE/NAME, and needs no other. No command prints a private key.

` + exit.Help,
		Subcommands: []*cli.Command{initCommand(x), newCommand(x), listCommand(x), renewCommand(x), revokeCommand(x)},
	}
}
