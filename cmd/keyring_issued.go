package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/security"
)

// issuedFile is the list of all keys that were made here and are not revoked:
//
//	ed25519:BASE64 # node/joiner-1
//	ed25519:BASE64 # node/joiner-1
//
// A key that was replaced is valid until it is revoked, and so is a key whose directory is elsewhere, lost or broken. posta key revoke has
// to find each of them by its owner's name.
const issuedFile = "issued"

// issued returns the owners of the list. If some lines cannot be read, it returns the others and an error.
func (k keyring) issued() (all []owner, err error) {
	text, err := owned.Read(k.at(issuedFile))
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
			err = errors.Join(err, fmt.Errorf("%s, a line: %w", k.at(issuedFile), bad))
			continue
		}
		all = append(all, owner{id, key})
	}
	return all, err
}

// noteIssued adds keys to the list. Callers note a key before they write it: a noted key that was never written does no harm.
func (k keyring) noteIssued(more ...owner) error {
	all, err := k.issued()
	if err != nil {
		return fmt.Errorf("note a key: %w; correct the file, or remove it: then only keys that are in their directories can be revoked by name",
			err)
	}
	revoked, err := security.ReadRevoked(k.dir)
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
		if !revoked[o.key] {
			fmt.Fprintf(&b, "%s # %s\n", o.key, o.id)
		}
	}
	if err := owned.Write(k.at(issuedFile), b.String(), true); err != nil {
		return fmt.Errorf("note a key: %w", err)
	}
	return nil
}
