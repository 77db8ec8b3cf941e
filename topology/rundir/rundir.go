package rundir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"posta.dev/posta/internal/freeports"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/topology"
)

// RunDirConfig describes the private cluster to make.
type RunDirConfig struct {
	Dir     string           // "" for a temporary directory
	File    string           // a topology to copy; if "", Variant is used
	Variant topology.Variant // without Dir, IPCDir and Ports
	TCP     bool             // sockets on free ports of 127.0.0.1 instead of unix sockets
}

// RunDir is the directory of a private cluster. The caller must close it.
type RunDir struct {
	Dir       string
	Topology  *topology.Topology
	temporary bool
	noted     string // the data directory that holds the note of where the sockets are; "" if there is no note
	lock      *Lock
}

// NewRunDir makes the directory and writes the topology file.
func NewRunDir(p RunDirConfig) (s *RunDir, err error) {
	s = &RunDir{Dir: p.Dir, temporary: p.Dir == ""}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close(true))
		}
	}()
	if err := s.makeDir(); err != nil {
		return s, err
	}
	if s.lock, err = TakeLock(filepath.Join(s.Dir, lockFile)); err != nil {
		return s, err
	}
	if s.temporary {
		if err := s.mark(); err != nil {
			return s, fmt.Errorf("mark the directory as temporary: %w", err)
		}
	}
	text, err := s.text(p)
	if err != nil {
		return s, err
	}
	name := filepath.Join(s.Dir, topologyFile)
	if err := owned.Write(name, text, false); err != nil {
		return s, fmt.Errorf("write the topology: %w", err)
	}
	t, err := topology.Load(name)
	if err == nil {
		err = CheckSocketDirs(t)
	}
	if err != nil || !HasLocal(t) {
		s.Topology = t
		return s, err
	}
	address, err := s.makeSockets(t)
	if err == nil {
		s.Topology, err = topology.LoadWith(name, topology.Addresses{Local: address})
	}
	return s, err
}

func (s *RunDir) makeDir() (err error) {
	if s.temporary {
		sweep()
		if s.Dir, err = os.MkdirTemp("", runPrefix); err == nil {
			err = owned.Path(s.Dir) // if others may write to TMPDIR, the user has to choose another directory
		}
	} else if s.Dir, err = filepath.Abs(s.Dir); err == nil {
		err = makeGiven(s.Dir)
	}
	if err != nil {
		return fmt.Errorf("make a directory for the run: %w; give another one with --dir, or in TMPDIR", err)
	}
	return nil
}

// makeGiven makes the directory that a user has named. If it exists, makeGiven checks that nobody else can change what the run puts there.
func makeGiven(dir string) error {
	if err := owned.Path(dir); err != nil { // checked before anything is made in a user's directory
		return err
	}
	if err := os.MkdirAll(dir, owned.DirMode); err != nil {
		return err
	}
	return owned.Writers(dir)
}

// text returns the topology file. A topology to copy is first checked under its own name, so that mistakes are reported in the user's file.
// If its data directory is relative to the file, the data goes below the run directory.
func (s *RunDir) text(p RunDirConfig) (string, error) {
	if p.File != "" {
		if _, err := topology.Load(p.File); err != nil {
			return "", err
		}
		b, err := topology.ReadText(p.File)
		return string(b), err
	}
	if p.Variant.Name == "" {
		p.Variant.Name = s.name()
	}
	if p.TCP {
		var err error
		if p.Variant.Ports, err = freePorts(p.Variant); err != nil {
			return "", err
		}
		p.Variant.Address = freeports.Address
	}
	return topology.Generate(p.Variant)
}

// name returns the cluster's name. Every run has another one, because two runs may share a broker.
func (s *RunDir) name() string {
	sum := sha256.Sum256([]byte(s.Dir))
	return "run-" + hex.EncodeToString(sum[:4])
}

// makeSockets makes the directory of the sockets and notes it for the nodes. The directory is below the run directory, or among the
// temporary files if its path would be too long. A given topology may have its data elsewhere; then a cluster of posta up may use the same
// place.
func (s *RunDir) makeSockets(t *topology.Topology) (address string, err error) {
	if _, err := os.Lstat(filepath.Join(t.DataDir, addressFile)); err == nil && t.DataDir != filepath.Join(s.Dir, t.Data()) {
		return "", fmt.Errorf("the cluster with its data in %s is up; end it with posta down, or submit to it", t.DataDir)
	}
	longest := longestPath - longestName(t)
	dir := filepath.Join(s.Dir, "sock")
	if len(dir) <= longest {
		err = owned.Dir(dir)
	} else {
		dir, err = temporarySocketDir(longest)
	}
	if err != nil {
		return "", err
	}
	s.noted = t.DataDir
	return ipcPrefix + dir, NoteAddress(t.DataDir, ipcPrefix+dir)
}

// Prune removes everything but the nodes' logs from a temporary directory: the data of its nodes may take hundreds of megabytes.
func (s *RunDir) Prune() error {
	if !s.temporary || s.Dir == "" {
		return nil
	}
	return prune(s.Dir)
}

// Close releases the directory. If remove is true, it removes a directory that was made for this run; it never removes a given one.
func (s *RunDir) Close(remove bool) error {
	var errs []error
	if s.noted != "" {
		errs = append(errs, RemoveSockets(s.noted))
	}
	if s.temporary && remove && s.Dir != "" {
		errs = append(errs, os.RemoveAll(s.Dir))
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Release())
	}
	return errors.Join(errs...)
}
