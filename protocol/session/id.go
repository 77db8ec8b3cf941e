// Package session holds what clients and the cluster must agree on about a session: its id, its openers and its states.
package session

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
)

// ID names one client's run of one analysis: a UUID, chosen by the client so that every request can be repeated.
type ID [16]byte

// ErrBadID is returned by [Parse] for text that is not a UUID.
var ErrBadID = errors.New("not a session id")

// New returns a random (version 4) ID.
func New() ID {
	var id ID
	// Since Go 1.24, crypto/rand.Read never fails: it ends the process if the system has no randomness.
	_, _ = rand.Read(id[:])
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// Parse reads the form that [ID.String] writes.
func Parse(s string) (ID, error) {
	var id ID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ID{}, fmt.Errorf("%w: %q; it looks like 6ba7b810-9dad-41d1-80b4-00c04fd430c8", ErrBadID, s)
	}
	packed := s[0:8] + s[9:13] + s[14:18] + s[19:23] + s[24:36]
	if _, err := hex.Decode(id[:], []byte(packed)); err != nil {
		return ID{}, fmt.Errorf("%w: %q: %w", ErrBadID, s, err)
	}
	return id, nil
}

// String returns the usual form of a UUID, 36 characters.
func (id ID) String() string {
	h := hex.EncodeToString(id[:])
	return h[0:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:32]
}

// State is the state of a session, as clients see it.
type State string

// A session is Running until its results are complete (Done) or it has Failed. When it is closed or expires, its results are dropped.
const (
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
)
