package keyring

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/security"
)

// Owner is an identity and one of its public keys.
type Owner struct {
	Id  security.Identity
	Key security.Fingerprint
}

// issuedFile is the list of all keys that were made here and are not revoked:
//
//	ed25519:BASE64 # node/joiner-1
//	ed25519:BASE64 # node/joiner-1
//
// A key that was replaced is valid until it is revoked, and so is a key whose directory is elsewhere, lost or broken. posta key revoke has
// to find each of them by its owner's name.
const issuedFile = "issued"

// Issued returns the owners of the list. If some lines cannot be read, it returns the others and an error.
func (k Ring) Issued() (all []Owner, err error) {
	text, err := owned.Read(k.At(issuedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // an earlier version of the program made the keys, or none were made yet
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		word, name, _ := strings.Cut(strings.TrimSpace(line), " # ")
		key, keyErr := security.ParseFingerprint(word)
		id, idErr := security.ParseIdentity(name)
		if bad := errors.Join(keyErr, idErr); bad != nil {
			err = errors.Join(err, fmt.Errorf("%s, a line: %w", k.At(issuedFile), bad))
			continue
		}
		all = append(all, Owner{id, key})
	}
	return all, err
}

// NoteIssued adds keys to the list. Callers note a key before they write it: a noted key that was never written does no harm.
func (k Ring) NoteIssued(more ...Owner) error {
	all, err := k.Issued()
	if err != nil {
		return fmt.Errorf("note a key: %w; correct the file, or remove it: then only keys that are in their directories can be revoked by name",
			err)
	}
	revoked, err := security.ReadRevoked(k.Dir)
	if err != nil {
		return err
	}
	was := len(all)
	for _, o := range more {
		if !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	if len(all) == was {
		return nil
	}
	var b strings.Builder
	for _, o := range all {
		if !revoked[o.Key] {
			fmt.Fprintf(&b, "%s # %s\n", o.Key, o.Id)
		}
	}
	if err := owned.Write(k.At(issuedFile), b.String(), true); err != nil {
		return fmt.Errorf("note a key: %w", err)
	}
	return nil
}
