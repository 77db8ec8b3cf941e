package key

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/security"
)

// revoke is posta key revoke.
type revoke struct {
	*call.Call
}

func revokeCommand(base *call.Call) *cli.Command {
	x := &revoke{Call: base}
	return &cli.Command{
		Name: "revoke", ArgsUsage: "NAME", Usage: "refuse a key from now on",
		Description: `   posta key revoke alice
   posta key revoke node/joiner-1

The processes of posta up on this machine refuse the key at once, and end its connections. The command says which nodes and medics it did not
reach: posta deploy brings the list of revoked keys to containers.

` + exit.Help,
		Flags: []cli.Flag{call.TopologyFlag()}, Action: withRing(x.run),
	}
}

func (x *revoke) run(c *cli.Context, k keyring.Ring) error {
	name, err := call.OneArgument(c, "node, medic or client", "alice")
	if err != nil {
		return err
	}
	if err := k.IsThere(); err != nil {
		return fmt.Errorf("key revoke: %w", err)
	}
	lock, err := k.Open()
	if err != nil {
		return fmt.Errorf("key revoke: %w", err)
	}
	defer func() { _ = lock.Release() }()
	all, unknown, err := x.owners(k)
	if err != nil {
		return fmt.Errorf("key revoke: %w", err)
	}
	found := slices.DeleteFunc(slices.Clone(all), func(o keyring.Owner) bool {
		return o.Id.Name != name && o.Id.String() != name &&
			string(o.Key) != name
	})
	if key, err := security.ParseFingerprint(name); err == nil && len(found) == 0 {
		found = []keyring.Owner{{Key: key}} // the key of a CA, or one that was made elsewhere
	}
	switch names := ownerNames(found); {
	case len(names) > 1:
		return exit.Usagef("key revoke: %s is the name of several: give one of %s", name, strings.Join(names, ", "))
	case len(found) == 0 || slices.ContainsFunc(unknown, func(id security.Identity) bool { return id == found[0].Id }):
		if slices.ContainsFunc(unknown, func(id security.Identity) bool { return id.Name == name || id.String() == name }) {
			err = exit.Usagef("key revoke: the certificate of %s cannot be read, so its key is not known: run posta key revoke ed25519:…, with the "+
				"key as posta key list showed it before", name)
		} else if len(all) == 0 {
			err = exit.Usagef("key revoke: nobody called %s has a key, and there are no keys at all: posta key init and posta key new make them",
				name)
		} else {
			err = exit.Usagef("key revoke: nobody called %s has a key; these have one: %s", name, strings.Join(ownerNames(all), ", "))
		}
		if len(found) == 0 {
			return err
		}
		x.Notef("%v", err) // the known keys are revoked nevertheless
	}
	for _, o := range found {
		if err := security.Revoke(k.Dir, o.Key, comment(o)); err != nil {
			return fmt.Errorf("key revoke: %w", err)
		}
	}
	if err := k.Share(); err != nil {
		return fmt.Errorf("key revoke: the key is in the file revoked of %s, and not in all directories below: %w", k.Dir, err)
	}
	who, advice := found[0].Id.String(), "posta key init makes another one for it"
	switch found[0].Id.Role {
	case "":
		who, advice = string(found[0].Key), "if a CA has it, replace that with posta key init --"+flagRotateCA
	case security.Client:
		advice = fmt.Sprintf("remove its line from [clients] of %s as well", k.Topology.File)
	}
	x.Notef("the key of %s is revoked; %s", who, advice)
	tellProcesses(x.Call, c, k)
	return nil
}

func comment(o keyring.Owner) string {
	if o.Id.Role == "" {
		return ""
	}
	return o.Id.String()
}

// owners returns the owners of all known keys. A name may have several keys: one in the topology, one in its directory, and former ones.
// unknown are the names whose certificates cannot be read.
func (x *revoke) owners(k keyring.Ring) (all []keyring.Owner, unknown []security.Identity, err error) {
	made, err := k.Made()
	if err != nil {
		return nil, nil, err
	}
	for _, id := range made {
		switch has, err := k.Certificate(k.Home(id)); {
		case has.Certificate != nil:
			all = append(all, keyring.Owner{Id: id, Key: has.Fingerprint})
		case !errors.Is(err, keyring.ErrAbsent) && !errors.Is(err, fs.ErrNotExist):
			unknown = append(unknown, id)
		}
	}
	for _, c := range k.Topology.Clients {
		all = append(all, keyring.Owner{Id: security.Identity{Role: security.Client, Name: c.Name}, Key: c.Key})
	}
	former, err := k.Issued()
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

func ownerNames(all []keyring.Owner) (names []string) {
	for _, o := range all {
		names = append(names, o.Id.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}
