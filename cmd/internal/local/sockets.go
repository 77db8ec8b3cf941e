package local

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
// which containers publish their ports. Commands read it instead of deriving the directory again, because each of them may have another
// environment than the one of posta up (S1).
const addressFile = "address"

const (
	ipcPrefix    = "ipc:"
	socketPrefix = "posta-"
	// longestPath is what fits the address of a unix socket on every system that Posta runs on: macOS has 104 bytes, with a zero at the end.
	longestPath = 103
)

// ErrNotUp is wrapped by the error of Address when there is no note, or when the directory that it names has gone.
var ErrNotUp = errors.New("no cluster is up on this machine")

// HasLocal reports whether a note has to say where hosts of the topology are.
func HasLocal(t *topology.Topology) bool {
	return slices.ContainsFunc(t.Hosts, func(h topology.Host) bool { return h.Local })
}

// Address returns where the local hosts of a cluster are. A directory of sockets is this user's alone, or an error.
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

// CheckSocketDirs finds that the directories of unix sockets that a topology names, on the machine where it is asked, are this user's alone:
// in another one anybody could take the place of a node.
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
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // who listens there says that it is missing
				return fmt.Errorf("use the unix sockets of host %q: %w", h.Name, err)
			}
		}
	}
	return nil
}

// NoteAddress says where the local hosts are, to all commands from now on.
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
	return NoteAddress(t.DataDir, ipcPrefix+dir)
}

// newSocketDir makes a directory that only this user may enter: in the one that the system gives to users who are logged in, where the
// path has room for the sockets' names, or else a new one among the temporary files.
func newSocketDir(t *topology.Topology) (string, error) {
	longest := longestPath - longestName(t)
	sum := sha256.Sum256([]byte(t.DataDir))
	if base := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(base) && owned.Check(base) == nil {
		dir := filepath.Join(base, socketPrefix+hex.EncodeToString(sum[:4]))
		if len(dir) <= longest {
			err := os.Mkdir(dir, owned.DirMode)
			if errors.Is(err, fs.ErrExist) { // of an earlier life of the same cluster
				err = owned.Check(dir)
			}
			return dir, makeError(err)
		}
	}
	return temporarySocketDir(longest)
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
	return "", fmt.Errorf("no place for unix sockets: their paths have more than %d bytes, or others may replace them; set TMPDIR to a short path of a directory of yours, or write address = \"127.0.0.1\"", longestPath)
}

func makeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("make a directory for unix sockets: %w; set TMPDIR to a directory that can be written, or write address = \"127.0.0.1\"", err)
}

// longestName is the length of the longest name of a socket, with the slash before it.
func longestName(t *topology.Topology) int {
	longest := 0
	for _, n := range t.All() {
		for _, e := range n.Sockets.List() {
			longest = max(longest, len("/")+len(n.ID)+len(".")+len(e.Kind))
		}
	}
	return longest
}

// RemoveSockets forgets where the local hosts are, and removes the sockets and their directory. It removes nothing that is not this
// user's, and nothing but sockets.
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
