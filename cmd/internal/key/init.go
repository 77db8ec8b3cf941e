package key

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"posta.dev/posta/internal/units"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/security"
)

// initialise is posta key init.
type initialise struct {
	*call.Call
	rotateCA bool
}

func initCommand(base *call.Call) *cli.Command {
	x := &initialise{Call: base}
	return &cli.Command{
		Name: "init", Usage: "make the CA, and a certificate for each node and medic of the topology that has none",
		Description: `Prints what it made. Existing keys and certificates stay, except certificates that are revoked or expire within 30 days: they are replaced.

A CA is replaced in three steps, and sessions run on if the keys are brought to all processes after each of them: with --rotate-ca
a second CA is trusted; with --rotate-ca again it signs; with --rotate-ca once more the first one is no longer trusted. If the
command is killed in a step, run it again, and it finishes that step and takes no other.

` + exit.Help,
		Flags: []cli.Flag{call.TopologyFlag(),
			&cli.BoolFlag{Name: flagRotateCA, Destination: &x.rotateCA, Usage: "take the next step of replacing the CA"}},
		Action: withRing(x.run),
	}
}

func (x *initialise) run(c *cli.Context, k keyring.Ring) error {
	lock, err := k.Open()
	if err != nil {
		return fmt.Errorf("key init: %w", err)
	}
	defer func() { _ = lock.Release() }()
	now := time.Now()
	ca, state, err := k.HaveCA(now)
	switch {
	case err != nil || !x.rotateCA:
	case state == keyring.CAMade:
		return exit.Usagef("key init: there was no CA to rotate, and one is made now; run posta key init without --%s", flagRotateCA)
	case state == keyring.CASwapped:
		x.Notef("%s", step2)
	default:
		ca, err = x.rotate(k, now)
	}
	var made int
	if err == nil {
		made, err = keyring.Issue(x.Call, k, ca, now, security.ExpiryWarning)
		if x.rotateCA && errors.Is(err, keyring.ErrRevokedCA) {
			err = nil // the next step of the rotation makes another CA
		}
		err = errors.Join(err, k.Share()) // even if one directory is broken
	}
	if err != nil {
		return fmt.Errorf("key init: %w", err)
	}
	if state == keyring.CAMade {
		x.Notef("made a CA for cluster %s; its key in %s signs all others: keep it on this machine", k.Topology.Name, k.At(keyring.CADir))
	}
	if made == 0 {
		x.Notef("all nodes and medics of cluster %s have certificates in %s", k.Topology.Name, k.Dir)
		return nil
	}
	x.Notef("made %s in %s", units.Plural(made, "certificate"), k.Dir)
	return nil
}

const (
	rotateAgain = "bring the keys to all processes, and then run posta key init --" + flagRotateCA + " again"
	step1       = "step 1 of 3: a second CA is trusted, and the first one signs; " + rotateAgain
	step2       = "step 2 of 3: the second CA signs, and both are trusted; " + rotateAgain
	noStep      = "what a command had begun before is finished; " + rotateAgain
)

// rotate takes one step, and returns the CA that signs after it. If a command was killed in a step, after the CAs had changed and before
// all directories had them, that step is finished and no other one is taken: the processes have not got its keys yet.
func (x *initialise) rotate(k keyring.Ring, now time.Time) (*security.CA, error) {
	next, former := k.Has(keyring.NextCADir), k.Has(keyring.FormerCADir)
	all, err := k.Made()
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(k.At(keyring.GoneCADir)); err != nil {
		return nil, err
	}
	finished := !slices.ContainsFunc(all, func(id security.Identity) bool { return !k.Shared(k.Home(id)) })
	switch {
	case !finished && former:
		x.Notef("%s", step2)
	case !finished && next:
		x.Notef("%s", step1)
	case !finished: // it may have been step 3
		x.Notef("%s", noStep)
	case former:
		if err := os.Rename(k.At(keyring.FormerCADir), k.At(keyring.GoneCADir)); err != nil { // at once: half of a CA could not be read
			return nil, err
		}
		if err := os.RemoveAll(k.At(keyring.GoneCADir)); err != nil {
			return nil, err
		}
		x.Notef("step 3 of 3: the former CA is no longer trusted; bring the keys to all processes, and it is over")
	case next:
		if err := os.Rename(k.At(keyring.CADir), k.At(keyring.FormerCADir)); err != nil {
			return nil, err
		}
		if err := os.Rename(k.At(keyring.NextCADir), k.At(keyring.CADir)); err != nil {
			return nil, err
		}
		x.Notef("%s", step2)
	default:
		ca, err := security.NewCA(k.Topology.Name, now)
		if err == nil {
			err = k.WriteCA(keyring.NextCADir, ca)
		}
		if err != nil {
			return nil, err
		}
		x.Notef("%s", step1)
	}
	return k.CA(keyring.CADir)
}
