package keyring

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/security"
)

// caState says what HaveCA found.
type caState int

const (
	caThere   caState = iota
	CAMade            // there was none
	CASwapped         // a rotation was interrupted between its two renames, and that step is finished now
)

// HaveCA returns the CA that signs, and makes one if there is none.
func (k Ring) HaveCA(now time.Time) (ca *security.CA, state caState, err error) {
	if ca, err = k.CA(CADir); !errors.Is(err, ErrAbsent) {
		return ca, caThere, err
	}
	if k.Has(NextCADir) {
		if err := os.Rename(k.At(NextCADir), k.At(CADir)); err != nil {
			return nil, caThere, err
		}
		ca, err = k.CA(CADir)
		return ca, CASwapped, err
	}
	all, err := k.Made()
	if err != nil {
		return nil, caThere, err
	}
	all = slices.DeleteFunc(all, func(id security.Identity) bool { return id.Role == security.Client })
	if len(all) > 0 {
		return nil, caThere, exit.Usagef(
			"there is no CA in %s, and %s has keys there that another CA has signed: bring %s back from where you keep it; "+
				"if it is lost, remove %s and %s, run this again, and bring the new keys to all processes at once, because old and new ones do not "+
				"trust each other",
			k.Dir, all[0], k.At(CADir), k.At(string(security.Node)), k.At(string(security.Medic)))
	}
	if ca, err = security.NewCA(k.Topology.Name, now); err == nil {
		err = k.WriteCA(CADir, ca)
	}
	return ca, CAMade, err
}

// WriteCA writes all of a CA's directory, or nothing.
func (k Ring) WriteCA(name string, ca *security.CA) error {
	beside := k.At(name + ".new")
	err := os.RemoveAll(beside)
	if err == nil {
		err = security.WriteCA(beside, ca)
	}
	if err == nil {
		err = os.Rename(beside, k.At(name))
	}
	if err != nil {
		return err
	}
	return owned.SyncDir(k.Dir)
}

// Has reports whether a file or directory is in the ring.
func (k Ring) Has(name string) bool {
	_, err := os.Lstat(k.At(name))
	return err == nil
}

// ErrRevokedCA is returned by Issue.
var ErrRevokedCA = exit.Usagef("the CA that signs is revoked and not trusted: replace it with posta key init --rotate-ca")

// Issue makes the certificates that are missing, and replaces those that cannot stay. An error with the keys of one process does not keep
// the other processes from getting theirs. A certificate that ends within the given time cannot stay.
func Issue(x *call.Call, k Ring, ca *security.CA, now time.Time, within time.Duration) (made int, err error) {
	revoked, err := security.ReadRevoked(k.Dir)
	if err != nil {
		return 0, err
	}
	if key, ok := ca.Certificate().PublicKey.(ed25519.PublicKey); ok && revoked[security.FingerprintOf(key)] {
		return 0, ErrRevokedCA
	}
	var all []error
	for _, id := range k.Processes() {
		has, err := k.Certificate(k.Home(id))
		switch {
		case errors.Is(err, security.ErrUnsafeFile):
			all = append(all, fmt.Errorf("%s: %w; if others may have read the key, run posta key revoke %[1]s first", id, err))
			continue
		case err == nil:
			why := has.replace(ca.Certificate(), revoked, now.Add(within))
			if why == "" {
				continue
			}
			x.Notef("%s gets another certificate: the one before is %s", id, why)
		case !errors.Is(err, ErrAbsent) && !errors.Is(err, fs.ErrNotExist):
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
func (k Ring) issueTo(id security.Identity, has Certificate, ca *security.CA, now time.Time) error {
	pair, err := ca.Issue(id, now)
	if err != nil {
		return err
	}
	note := []Owner{{id, pair.Key.Fingerprint()}}
	if has.Fingerprint != "" {
		note = append(note, Owner{id, has.Fingerprint})
	}
	if err := k.NoteIssued(note...); err != nil {
		return err
	}
	return security.WritePair(k.Home(id), pair)
}
