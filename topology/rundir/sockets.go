package rundir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/topology"
)

// addressFile is the note, in a cluster's data directory, of where its local hosts are while it is up: "ipc:DIR", or the IP address at
// which containers publish their ports. Commands read it. Deriving the directory again was rejected, because a command may have another
// environment than posta up had (S1).
const addressFile = "address"

const (
	ipcPrefix    = "ipc:"
	socketPrefix = "posta-"
	// longestPath is the longest address of a unix socket, in bytes, that fits on every system that Posta runs on: macOS has 104 bytes, with a
	// zero at the end.
	longestPath = 103
)

// ErrNotUp is wrapped by the error of Address if there is no note, or if the directory that the note names no longer exists.
var ErrNotUp = errors.New("no cluster is up on this machine")

// HasLocal reports whether the topology has local hosts; a note has to say where those are.
func HasLocal(t *topology.Topology) bool {
	return slices.ContainsFunc(t.Hosts, func(h topology.Host) bool { return h.Local })
}

// Address returns where the local hosts of a cluster are. If that is a directory of sockets, the directory must belong to this user alone;
// otherwise Address returns an error.
func Address(dataDir string) (string, error) {
	name := filepath.Join(dataDir, addressFile)
	text, err := owned.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w (there is no %s)", ErrNotUp, name)
	}
	if err != nil {
		return "", fmt.Errorf("find the cluster: %w", err)
	}
	address := strings.TrimSuffix(string(text), "\n")
	dir, ipc := strings.CutPrefix(address, ipcPrefix)
	if _, err := netip.ParseAddr(address); err == nil {
		return address, nil
	}
	if !ipc || !filepath.IsAbs(dir) {
		return "", fmt.Errorf("%w (%s names no place, as a crash of the machine can leave it)", ErrNotUp, name)
	}
	err = owned.Check(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w (its unix sockets were in %s, which somebody removed)", ErrNotUp, dir)
	}
	if err != nil {
		return "", fmt.Errorf("use the unix sockets of the cluster: %w", err)
	}
	return address, nil
}

// CheckSocketDirs checks the directories of unix sockets that a topology names, on the machine where it is called: they must belong to this
// user alone. In any other directory another user could take the place of a node.
func CheckSocketDirs(t *topology.Topology) error {
	for _, h := range t.Hosts {
		for _, address := range []string{h.Address, h.Bind} {
			dir, ok := strings.CutPrefix(address, ipcPrefix)
			if !ok {
				continue
			}
			err := owned.Path(dir)
			if err == nil {
				err = owned.Check(dir)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // the process that listens there reports a missing directory
				return fmt.Errorf("use the unix sockets of host %q: %w", h.Name, err)
			}
		}
	}
	return nil
}

// NoteAddress notes, for all later commands, where the local hosts are.
func NoteAddress(dataDir, address string) error {
	err := owned.Path(dataDir)
	if err == nil {
		err = owned.Dir(dataDir)
	}
	if err == nil {
		err = owned.Write(filepath.Join(dataDir, addressFile), address+"\n", false)
	}
	if err != nil {
		return fmt.Errorf("note where the cluster is: %w", err)
	}
	return nil
}

// MakeSockets makes the directory for the sockets of a topology's local hosts, and notes it.
func MakeSockets(t *topology.Topology) error {
	dir, err := newSocketDir(t)
	if err != nil {
		return err
	}
	if err := NoteAddress(t.DataDir, ipcPrefix+dir); err != nil {
		return err
	}
	return makeError(owned.Write(filepath.Join(t.DataDir, formerFile), dir+"\n", false))
}

// newSocketDir makes a directory that only this user may enter. It is in the directory that the system gives to logged-in users, if the
// sockets' paths fit there. Otherwise it is a new one among the temporary files.
func newSocketDir(t *topology.Topology) (string, error) {
	longest := longestPath - longestName(t)
	sum := sha256.Sum256([]byte(t.DataDir))
	if base := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(base) && owned.Check(base) == nil {
		dir := filepath.Join(base, socketPrefix+hex.EncodeToString(sum[:4]))
		if len(dir) <= longest {
			err := os.Mkdir(dir, owned.DirMode)
			if errors.Is(err, fs.ErrExist) { // left by an earlier run of the same cluster
				err = owned.Check(dir)
			}
			return dir, makeError(err)
		}
	}
	if dir := formerSocketDir(t.DataDir, longest); dir != "" {
		return dir, nil
	}
	return temporarySocketDir(longest)
}

// formerFile is the note of the temporary directory that the sockets had before posta down. An open console, or posta status --watch, still
// dials there, so the next posta up makes it again.
const formerFile = "sockets"

// formerSocketDir makes the directory of formerFile again. It returns "" if there is no note, or if the name is taken or not safe any more.
func formerSocketDir(dataDir string, longest int) string {
	text, err := owned.Read(filepath.Join(dataDir, formerFile))
	dir := strings.TrimSuffix(string(text), "\n")
	if err != nil || !filepath.IsAbs(dir) || len(dir) > longest || !strings.HasPrefix(filepath.Base(dir), socketPrefix) {
		return ""
	}
	if err := os.Mkdir(dir, owned.DirMode); err != nil && !errors.Is(err, fs.ErrExist) || owned.Check(dir) != nil || owned.Path(dir) != nil {
		return ""
	}
	return dir
}

// temporarySocketDir makes a new directory among the temporary files.
func temporarySocketDir(longest int) (string, error) {
	for _, base := range []string{os.TempDir(), "/tmp"} {
		dir, err := os.MkdirTemp(base, socketPrefix)
		if err != nil {
			if base == "/tmp" {
				return "", makeError(err)
			}
			continue
		}
		if len(dir) <= longest && owned.Path(dir) == nil {
			return dir, nil
		}
		if err := os.Remove(dir); err != nil {
			return "", makeError(err)
		}
	}
	return "", fmt.Errorf("no place for unix sockets: their paths have more than %d bytes, or others may replace them; set TMPDIR to a "+
		"short path of a directory of yours, or write address = \"127.0.0.1\"", longestPath)
}

func makeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(
		"make a directory for unix sockets: %w; set TMPDIR to a directory that can be written, or write address = \"127.0.0.1\"", err)
}

// longestName returns the length of the longest name of a socket, with the slash before it.
func longestName(t *topology.Topology) int {
	longest := 0
	for _, n := range t.All() {
		for _, e := range n.Sockets.List() {
			longest = max(longest, len("/")+len(n.ID)+len(".")+len(e.Kind))
		}
	}
	return longest
}

// RemoveSockets removes the note of where the local hosts are, the sockets and their directory. It removes nothing that belongs to another
// user, and no files except sockets.
func RemoveSockets(dataDir string) error {
	address, err := Address(dataDir)
	if err != nil && !errors.Is(err, ErrNotUp) {
		return err
	}
	if dir, ok := strings.CutPrefix(address, ipcPrefix); ok {
		if err := removeSocketDir(dir); err != nil {
			return fmt.Errorf("remove the unix sockets: %w", err)
		}
	}
	if err := os.Remove(filepath.Join(dataDir, addressFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget where the cluster was: %w", err)
	}
	return nil
}

func removeSocketDir(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err == nil && e.Type() == fs.ModeSocket {
			err = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	if err != nil {
		return err
	}
	return os.Remove(dir)
}
