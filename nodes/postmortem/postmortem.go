// Package postmortem keeps notes about a node that died of a session, for the node's next process (N9). They are small
// files in the node's data directory, beside its log.
//
//	hung    the loop hung, and the node ended itself: on which session, in which role
//	died    how the last process ended, left by the medic that starts the node again
//	working the loop, or a goroutine that parses beside it, works long on a session; removed when it has done so
//	deaths  how often in a row the node has died by its own fault with which sessions open, and how often during long work on a session, by
//	        whatever
//	        hand, without the session getting further in between
//
// A file is written to a temporary name, synced, and renamed, so a crash leaves the old one or the new one. A note
// that cannot be read is reported and ignored, so that it never keeps a node from starting. A note that cannot be
// written, as on a full disk, is skipped, so that it never keeps a node from ending.
package postmortem

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"posta.dev/posta/internal/owned"
)

// maxNote bounds a note in bytes (R16).
const maxNote = 64 << 10 // limits.sessions is at most 1024

// Hung is the note of a loop that hung.
type Hung struct {
	Session string        `json:"session,omitempty"` // empty: the node worked on no session
	Role    string        `json:"role,omitempty"`
	Stream  string        `json:"stream,omitempty"`
	For     time.Duration `json:"for_ns"`
}

// Reason says to the session's client what happened.
func (h *Hung) Reason(node string) string {
	at := ""
	if h.Stream != "" {
		at = " on stream " + h.Stream
	}
	return fmt.Sprintf("node %s hung in stage %s%s: it got nothing done for %v, and ended itself; the analysis may not come to an end on "+
		"some row: its log has "+
		"all stacks. If it needs so long for a single row, raise medics.stuck_after in the topology", node, h.Role, at,
		h.For.Round(time.Millisecond))
}

// ErrDamaged is returned when a note exists and cannot be read.
var ErrDamaged = errors.New("the note is damaged")

const hungFile = "hung"

// ExitHung is the exit status of a node whose loop hangs.
const ExitHung = 70

// WriteHung writes the note of a loop that hung.
func WriteHung(dir string, h Hung) error { return write(dir, hungFile, h) }

// ReadHung returns the note of a loop that hung; false if there is none.
func ReadHung(dir string) (h Hung, ok bool, err error) {
	ok, err = read(dir, hungFile, &h)
	return h, ok, err
}

// RemoveHung removes the note. A missing note is not an error.
func RemoveHung(dir string) error { return remove(dir, hungFile) }

// write replaces a note:
//
//	0a1b2c3d {"session": …}
//
// The number is the CRC-32C of the bytes after the space.
func write(dir, name string, note any) error {
	data, err := encode(name, note)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	if err := replace(path, data); err != nil {
		return fmt.Errorf("write note %s: %w", path, err)
	}
	return nil
}

func encode(name string, note any) ([]byte, error) {
	body, err := json.Marshal(note)
	if err != nil {
		return nil, err
	}
	if len(body) > maxNote {
		return nil, fmt.Errorf("note %s of %d bytes; at most %d are kept", name, len(body), maxNote)
	}
	return fmt.Appendf(nil, "%08x %s", checksum(body), body), nil
}

func replace(path string, data []byte) (err error) {
	beside := path + ".new"
	f, err := os.OpenFile(beside, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, owned.FileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	if err := os.Rename(beside, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func read(dir, name string, note any) (ok bool, err error) {
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && info.Size() > maxNote+16 {
		err = ErrDamaged
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err == nil {
		err = decode(string(data), note)
	}
	if err != nil {
		return false, fmt.Errorf("read note %s: %w", path, err)
	}
	return true, nil
}

func decode(data string, note any) error {
	sum, body, _ := strings.Cut(data, " ")
	if want, err := strconv.ParseUint(sum, 16, 32); err != nil || uint32(want) != checksum([]byte(body)) {
		return ErrDamaged
	}
	if err := json.Unmarshal([]byte(body), note); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

func checksum(p []byte) uint32 { return crc32.Checksum(p, crc32.MakeTable(crc32.Castagnoli)) }

func remove(dir, name string) error {
	err := os.Remove(filepath.Join(dir, name))
	if err == nil {
		return syncDir(dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
