package cmd

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/security"
)

func (x *command) keyInit(c *cli.Context, k keyring) error {
	lock, err := k.open()
	if err != nil {
		return fmt.Errorf("key init: %w", err)
	}
	defer func() { _ = lock.Release() }()
	now := time.Now()
	ca, state, err := k.haveCA(now)
	switch {
	case err != nil || !c.Bool(flagRotateCA):
	case state == caMade:
		return exit.Usagef("key init: there was no CA to rotate, and one is made now; say posta key init without --%s", flagRotateCA)
	case state == caSwapped:
		x.Notef("%s", step2)
	default:
		ca, err = x.rotate(k, now)
	}
	var made int
	if err == nil {
		made, err = x.issue(k, ca, now, security.ExpiryWarning)
		if c.Bool(flagRotateCA) && errors.Is(err, errRevokedCA) {
			err = nil // the next step of the rotation makes another CA
		}
		err = errors.Join(err, k.share()) // even if one directory is broken
	}
	if err != nil {
		return fmt.Errorf("key init: %w", err)
	}
	if state == caMade {
		x.Notef("made a CA for cluster %s; its key in %s signs all others: keep it on this machine", k.t.Name, k.at(caDir))
	}
	if made == 0 {
		x.Notef("all nodes and medics of cluster %s have certificates in %s", k.t.Name, k.dir)
		return nil
	}
	x.Notef("made %s in %s", display.Plural(made, "certificate"), k.dir)
	return nil
}

// caState says what haveCA found.
type caState int

const (
	caThere   caState = iota
	caMade            // there was none
	caSwapped         // a rotation was interrupted between its two renames, and that step is finished now
)

// haveCA returns the CA that signs, and makes one if there is none.
func (k keyring) haveCA(now time.Time) (ca *security.CA, state caState, err error) {
	if ca, err = k.ca(caDir); !errors.Is(err, errAbsent) {
		return ca, caThere, err
	}
	if k.has(nextCADir) {
		if err := os.Rename(k.at(nextCADir), k.at(caDir)); err != nil {
			return nil, caThere, err
		}
		ca, err = k.ca(caDir)
		return ca, caSwapped, err
	}
	all, err := k.made()
	if err != nil {
		return nil, caThere, err
	}
	all = slices.DeleteFunc(all, func(id security.Identity) bool { return id.Role == security.Client })
	if len(all) > 0 {
		return nil, caThere, exit.Usagef(
			"there is no CA in %s, and %s has keys there that another CA has signed: bring %s back from where you keep it; "+
				"if it is lost, remove %s and %s, say this again, and bring the new keys to all processes at once, because old and new ones do not "+
				"trust each other",
			k.dir, all[0], k.at(caDir), k.at(string(security.Node)), k.at(string(security.Medic)))
	}
	if ca, err = security.NewCA(k.t.Name, now); err == nil {
		err = k.writeCA(caDir, ca)
	}
	return ca, caMade, err
}

// writeCA writes all of a CA's directory, or nothing.
func (k keyring) writeCA(name string, ca *security.CA) error {
	beside := k.at(name + ".new")
	err := os.RemoveAll(beside)
	if err == nil {
		err = security.WriteCA(beside, ca)
	}
	if err == nil {
		err = os.Rename(beside, k.at(name))
	}
	if err != nil {
		return err
	}
	return owned.SyncDir(k.dir)
}

const (
	rotateAgain = "bring the keys to all processes, and then say posta key init --" + flagRotateCA + " again"
	step1       = "step 1 of 3: a second CA is trusted, and the first one signs; " + rotateAgain
	step2       = "step 2 of 3: the second CA signs, and both are trusted; " + rotateAgain
	noStep      = "what a command had begun before is finished; " + rotateAgain
)

// rotate takes one step, and returns the CA that signs after it. If a command was killed in a step, after the CAs had changed and before
// all directories had them, that step is finished and no other one is taken: the processes have not got its keys yet.
func (x *command) rotate(k keyring, now time.Time) (*security.CA, error) {
	next, former := k.has(nextCADir), k.has(formerCADir)
	all, err := k.made()
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(k.at(goneCADir)); err != nil {
		return nil, err
	}
	finished := !slices.ContainsFunc(all, func(id security.Identity) bool { return !k.shared(k.home(id)) })
	switch {
	case !finished && former:
		x.Notef("%s", step2)
	case !finished && next:
		x.Notef("%s", step1)
	case !finished: // it may have been step 3
		x.Notef("%s", noStep)
	case former:
		if err := os.Rename(k.at(formerCADir), k.at(goneCADir)); err != nil { // at once: half of a CA could not be read
			return nil, err
		}
		if err := os.RemoveAll(k.at(goneCADir)); err != nil {
			return nil, err
		}
		x.Notef("step 3 of 3: the former CA is no longer trusted; bring the keys to all processes, and it is over")
	case next:
		if err := os.Rename(k.at(caDir), k.at(formerCADir)); err != nil {
			return nil, err
		}
		if err := os.Rename(k.at(nextCADir), k.at(caDir)); err != nil {
			return nil, err
		}
		x.Notef("%s", step2)
	default:
		ca, err := security.NewCA(k.t.Name, now)
		if err == nil {
			err = k.writeCA(nextCADir, ca)
		}
		if err != nil {
			return nil, err
		}
		x.Notef("%s", step1)
	}
	return k.ca(caDir)
}

func (k keyring) has(name string) bool {
	_, err := os.Lstat(k.at(name))
	return err == nil
}

var errRevokedCA = exit.Usagef("the CA that signs is revoked, and nobody believes it: replace it with posta key init --%s", flagRotateCA)

// issue makes the certificates that are missing, and replaces those that cannot stay. An error with the keys of one process does not keep
// the other processes from getting theirs. A certificate that ends within the given time cannot stay.
func (x *command) issue(k keyring, ca *security.CA, now time.Time, within time.Duration) (made int, err error) {
	revoked, err := security.ReadRevoked(k.dir)
	if err != nil {
		return 0, err
	}
	if key, ok := ca.Certificate().PublicKey.(ed25519.PublicKey); ok && revoked[security.FingerprintOf(key)] {
		return 0, errRevokedCA
	}
	var all []error
	for _, id := range k.processes() {
		has, err := k.certificate(k.home(id))
		switch {
		case errors.Is(err, security.ErrUnsafeFile):
			all = append(all, fmt.Errorf("%s: %w; if others may have read the key, say posta key revoke %[1]s first", id, err))
			continue
		case err == nil:
			why := has.replace(ca.Certificate(), revoked, now.Add(within))
			if why == "" {
				continue
			}
			x.Notef("%s gets another certificate: the one before is %s", id, why)
		case !errors.Is(err, errAbsent) && !errors.Is(err, fs.ErrNotExist):
			x.Notef("%s gets another certificate: %v", id, err)
		}
		if err := k.issueTo(id, has, ca, now); err != nil {
			all = append(all, err)
			continue
		}
		made++
	}
	return made, errors.Join(all...)
}

// issueTo makes one pair. has is the former certificate; its key stays in the list of keys that can be revoked.
func (k keyring) issueTo(id security.Identity, has certificate, ca *security.CA, now time.Time) error {
	pair, err := ca.Issue(id, now)
	if err != nil {
		return err
	}
	note := []owner{{id, pair.Key.Fingerprint()}}
	if has.fingerprint != "" {
		note = append(note, owner{id, has.fingerprint})
	}
	if err := k.noteIssued(note...); err != nil {
		return err
	}
	return security.WritePair(k.home(id), pair)
}
