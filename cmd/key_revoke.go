package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/security"
)

// owner is somebody who has a key.
type owner struct {
	id  security.Identity
	key security.Fingerprint
}

func (x *command) keyRevoke(c *cli.Context, k keyring) error {
	name, err := oneArgument(c, "node, medic or client", "alice")
	if err != nil {
		return err
	}
	if err := k.isThere(); err != nil {
		return fmt.Errorf("key revoke: %w", err)
	}
	lock, err := k.open()
	if err != nil {
		return fmt.Errorf("key revoke: %w", err)
	}
	defer func() { _ = lock.Release() }()
	all, err := k.owners()
	if err != nil {
		return fmt.Errorf("key revoke: %w", err)
	}
	found := slices.DeleteFunc(slices.Clone(all), func(o owner) bool { return o.id.Name != name && o.id.String() != name })
	switch names := ownerNames(found); {
	case len(found) == 0:
		return usagef("key revoke: nobody called %s has a key; there is %s", name, strings.Join(ownerNames(all), ", "))
	case len(names) > 1:
		return usagef("key revoke: %s is the name of several: say one of %s", name, strings.Join(names, ", "))
	}
	for _, o := range found {
		if err := security.Revoke(k.dir, o.key, o.id.String()); err != nil {
			return fmt.Errorf("key revoke: %w", err)
		}
	}
	if err := k.share(); err != nil {
		return fmt.Errorf("key revoke: %w", err)
	}
	id := found[0].id
	advice := "posta key init makes another one for it"
	if id.Role == security.Client {
		advice = fmt.Sprintf("remove its line from [clients] of %s as well", k.t.File)
	}
	x.notef("the key of %s is revoked: bring the file revoked of %s to all processes; %s", id, k.dir, advice)
	return nil
}

// owners is everybody whose key is known. A client may have two: one in the topology, and another one in a directory.
func (k keyring) owners() (all []owner, err error) {
	made, err := k.made()
	if err != nil {
		return nil, err
	}
	for _, id := range made {
		has, err := k.certificate(k.home(id))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, owner{id, has.fingerprint})
	}
	for _, c := range k.t.Clients {
		o := owner{security.Identity{Role: security.Client, Name: c.Name}, c.Key}
		if !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	return all, nil
}

func ownerNames(all []owner) (names []string) {
	for _, o := range all {
		names = append(names, o.id.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}
