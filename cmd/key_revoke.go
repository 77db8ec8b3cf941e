package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/security"
)

// owner is an identity and one of its public keys.
type owner struct {
	id  security.Identity
	key security.Fingerprint
}

func (x *command) keyRevoke(c *cli.Context, k keyring) error {
	name, err := call.OneArgument(c, "node, medic or client", "alice")
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
	all, unknown, err := x.owners(k)
	if err != nil {
		return fmt.Errorf("key revoke: %w", err)
	}
	found := slices.DeleteFunc(slices.Clone(all), func(o owner) bool {
		return o.id.Name != name && o.id.String() != name &&
			string(o.key) != name
	})
	if key, err := security.ParseFingerprint(name); err == nil && len(found) == 0 {
		found = []owner{{key: key}} // the key of a CA, or one that was made elsewhere
	}
	switch names := ownerNames(found); {
	case len(names) > 1:
		return exit.Usagef("key revoke: %s is the name of several: say one of %s", name, strings.Join(names, ", "))
	case len(found) == 0 || slices.ContainsFunc(unknown, func(id security.Identity) bool { return id == found[0].id }):
		if slices.ContainsFunc(unknown, func(id security.Identity) bool { return id.Name == name || id.String() == name }) {
			err = exit.Usagef("key revoke: the certificate of %s cannot be read, so its key is not known: say posta key revoke ed25519:…, with the "+
				"key as posta key list showed it before", name)
		} else if len(all) == 0 {
			err = exit.Usagef("key revoke: nobody called %s has a key, and there are no keys at all: posta key init and posta key new make them", name)
		} else {
			err = exit.Usagef("key revoke: nobody called %s has a key; these have one: %s", name, strings.Join(ownerNames(all), ", "))
		}
		if len(found) == 0 {
			return err
		}
		x.Notef("%v", err) // the known keys are revoked nevertheless
	}
	for _, o := range found {
		if err := security.Revoke(k.dir, o.key, o.comment()); err != nil {
			return fmt.Errorf("key revoke: %w", err)
		}
	}
	if err := k.share(); err != nil {
		return fmt.Errorf("key revoke: the key is in the file revoked of %s, and not in all directories below: %w", k.dir, err)
	}
	who, advice := found[0].id.String(), "posta key init makes another one for it"
	switch found[0].id.Role {
	case "":
		who, advice = string(found[0].key), "if a CA has it, replace that with posta key init --"+flagRotateCA
	case security.Client:
		advice = fmt.Sprintf("remove its line from [clients] of %s as well", k.t.File)
	}
	x.Notef("the key of %s is revoked; %s", who, advice)
	x.tellProcesses(c, k)
	return nil
}

func (o owner) comment() string {
	if o.id.Role == "" {
		return ""
	}
	return o.id.String()
}

// owners returns the owners of all known keys. A name may have several keys: one in the topology, one in its directory, and former ones.
// unknown are the names whose certificates cannot be read.
func (x *command) owners(k keyring) (all []owner, unknown []security.Identity, err error) {
	made, err := k.made()
	if err != nil {
		return nil, nil, err
	}
	for _, id := range made {
		switch has, err := k.certificate(k.home(id)); {
		case has.Certificate != nil:
			all = append(all, owner{id, has.fingerprint})
		case !errors.Is(err, errAbsent) && !errors.Is(err, fs.ErrNotExist):
			unknown = append(unknown, id)
		}
	}
	for _, c := range k.t.Clients {
		all = append(all, owner{security.Identity{Role: security.Client, Name: c.Name}, c.Key})
	}
	former, err := k.issued()
	if err != nil {
		x.Notef("warning: %v; former keys cannot be found by that", err)
	}
	for _, o := range former {
		if !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	return all, unknown, nil
}

func ownerNames(all []owner) (names []string) {
	for _, o := range all {
		names = append(names, o.id.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}
