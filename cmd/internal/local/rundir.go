package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/topology"
)

// RunDirConfig says which private cluster to make.
type RunDirConfig struct {
	Dir     string           // "" for a temporary one
	File    string           // a topology to copy; else Variant
	Variant topology.Variant // without Dir, IPCDir and Ports
	TCP     bool             // sockets on free ports of 127.0.0.1 instead of unix sockets
}

// RunDir is the directory of a private cluster. It is to be closed.
type RunDir struct {
	Dir       string
	Topology  *topology.Topology
	temporary bool
	noted     string // data directory with the note of where the sockets are, "" if there is none
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
	if s.lock, err = TakeLock(filepath.Join(s.Dir, "run.lock")); err != nil {
		return s, err
	}
	text, err := s.text(p)
	if err != nil {
		return s, err
	}
	name := filepath.Join(s.Dir, "topology.toml")
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
			err = owned.Path(s.Dir) // another one in place of TMPDIR, if others may write there
		}
	} else if s.Dir, err = filepath.Abs(s.Dir); err == nil {
		err = makeGiven(s.Dir)
	}
	if err != nil {
		return fmt.Errorf("make a directory for the run: %w; give another one with --dir", err)
	}
	return nil
}

// makeGiven makes the directory that somebody has named, or finds that nobody else can change what the run puts there.
func makeGiven(dir string) error {
	if err := owned.Path(dir); err != nil { // before anything is made in somebody's directory
		return err
	}
	if err := os.MkdirAll(dir, owned.DirMode); err != nil {
		return err
	}
	return owned.Writers(dir)
}

// text is the topology file. A copied one is checked under its own name first, so that its mistakes are found in the user's file; its
// data goes below the run directory when it is given relative to the file.
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
		p.Variant.Address = loopback
	}
	return topology.Generate(p.Variant)
}

// name is the cluster's: no other may have it on a broker that both use.
func (s *RunDir) name() string {
	sum := sha256.Sum256([]byte(s.Dir))
	return "run-" + hex.EncodeToString(sum[:4])
}

// makeSockets makes the directory of the sockets, below the run directory or among the temporary files when its path would be too long,
// and notes it for the nodes. Only a topology that was given may have its data elsewhere, where posta up may have a cluster.
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

// Close lets go of the directory. With remove, one that was made for this run is removed; one that was given never is.
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
