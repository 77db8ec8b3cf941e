package cmd

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/security"
)

func (x *command) keyNew(c *cli.Context, k keyring) error {
	name, err := call.OneArgument(c, "client", "alice --role submit")
	if err != nil {
		return err
	}
	if err := security.ValidName(name); err != nil {
		return exit.Usagef("key new: %v", err)
	}
	if name == localClient {
		return exit.Usagef("key new: %s is the name of the key that posta up makes for its user; give another one", name)
	}
	role, err := security.ParseClientRole(c.String(flagRole))
	if err != nil {
		return exit.Usagef("key new: --%s %q is not a role; give submit, watch or operate", flagRole, c.String(flagRole))
	}
	if _, taken := k.clientOf(name); taken {
		return exit.Usagef("key new: %s has a client called %s; give another name, or remove its line and say posta key revoke %[2]s", k.t.File, name)
	}
	lock, err := k.open()
	if err != nil {
		return fmt.Errorf("key new: %w", err)
	}
	defer func() { _ = lock.Release() }()
	dir := c.String(call.FlagOut)
	if dir == "" {
		dir = k.home(security.Identity{Role: security.Client, Name: name})
	}
	if err := owned.Path(dir); err != nil {
		return fmt.Errorf("key new: %w", err)
	}
	// a broken directory may be made again: its key was never printed
	if has, err := k.certificate(dir); err == nil || has.Certificate != nil || errors.Is(err, security.ErrUnsafeFile) {
		return exit.Usagef("key new: %s has a key already; give another name or directory", dir)
	}
	pair, err := security.NewClient(k.t.Name, name, time.Now())
	if err == nil {
		err = k.noteIssued(owner{security.Identity{Role: security.Client, Name: name}, pair.Key.Fingerprint()})
	}
	if err == nil {
		err = owned.Dir(dir)
	}
	if err == nil {
		err = k.shareWith(dir) // without a CA there is none to trust yet
	}
	if err == nil {
		err = security.WritePair(dir, pair) // last: a command that is killed before can be said again, and one that has a pair lacks nothing
	}
	if err != nil {
		return fmt.Errorf("key new: %w", err)
	}
	x.Printf("%s = {key = %q, role = %q}\n", name, pair.Key.Fingerprint(), role)
	x.Notef("write the line above below [clients] of %s, and give %s to %s alone", k.t.File, dir, name)
	return nil
}
