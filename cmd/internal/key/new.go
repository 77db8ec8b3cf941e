package key

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/security"
)

// newClient is posta key new.
type newClient struct {
	*call.Call
	role string
	dir  string // "" for client/NAME of the directory of keys
}

func newCommand(base *call.Call) *cli.Command {
	x := &newClient{Call: base}
	return &cli.Command{
		Name: "new", ArgsUsage: "NAME", Usage: "make a key for a client, and print the line that lets it in",
		Description: `   posta key new alice --role submit

` + exit.Help,
		Flags: []cli.Flag{call.TopologyFlag(),
			&cli.StringFlag{Name: "role", Destination: &x.role,
				Usage: "what the client may do: submit (its own sessions), watch (status and metrics) or operate (everything)"},
			&cli.StringFlag{Name: call.FlagOut, Destination: &x.dir,
				Usage: "write the key to `DIR`, instead of client/NAME of the directory of keys"}},
		Action: withRing(x.run),
	}
}

func (x *newClient) run(c *cli.Context, k keyring.Ring) error {
	name, err := call.OneArgument(c, "client", "alice --role submit")
	if err != nil {
		return err
	}
	if err := security.ValidName(name); err != nil {
		return exit.Usagef("key new: %v", err)
	}
	if name == keyring.LocalClient {
		return exit.Usagef("key new: %s is the name of the key that posta up makes for its user; give another one", name)
	}
	role, err := security.ParseClientRole(x.role)
	if err != nil {
		return exit.Usagef("key new: --role %q is not a role; give submit, watch or operate", x.role)
	}
	if _, taken := k.ClientOf(name); taken {
		return exit.Usagef("key new: %s has a client called %s; give another name, or remove its line and run posta key revoke %[2]s",
			k.Topology.File, name)
	}
	lock, err := k.Open()
	if err != nil {
		return fmt.Errorf("key new: %w", err)
	}
	defer func() { _ = lock.Release() }()
	dir := x.dir
	if dir == "" {
		dir = k.Home(security.Identity{Role: security.Client, Name: name})
	}
	if err := owned.Path(dir); err != nil {
		return fmt.Errorf("key new: %w", err)
	}
	// a broken directory may be made again: its key was never printed
	if has, err := k.Certificate(dir); err == nil || has.Certificate != nil || errors.Is(err, security.ErrUnsafeFile) {
		return exit.Usagef("key new: %s has a key already; give another name or directory", dir)
	}
	pair, err := security.NewClient(k.Topology.Name, name, time.Now())
	if err == nil {
		err = k.NoteIssued(keyring.Owner{Id: security.Identity{Role: security.Client, Name: name}, Key: pair.Key.Fingerprint()})
	}
	if err == nil {
		err = owned.Dir(dir)
	}
	if err == nil {
		err = k.ShareWith(dir) // without a CA there is none to trust yet
	}
	if err == nil {
		err = security.WritePair(dir, pair) // last: a command that is killed before can be said again, and one that has a pair lacks nothing
	}
	if err != nil {
		return fmt.Errorf("key new: %w", err)
	}
	x.Printf("%s = {key = %q, role = %q}\n", name, pair.Key.Fingerprint(), role)
	x.Notef("write the line above below [clients] of %s, and give %s to %s alone", k.Topology.File, dir, name)
	return nil
}
