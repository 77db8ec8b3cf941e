package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
	sockets   string // directory of its own, "" if it is below Dir or there is none
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
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return s, fmt.Errorf("write the topology: %w", err)
	}
	s.Topology, err = topology.Load(name)
	return s, err
}

func (s *RunDir) makeDir() (err error) {
	if s.temporary {
		sweep()
		s.Dir, err = os.MkdirTemp("", runPrefix)
	} else if s.Dir, err = filepath.Abs(s.Dir); err == nil {
		err = os.MkdirAll(s.Dir, 0o755)
	}
	if err != nil {
		return fmt.Errorf("make a directory for the run: %w; give another one with --dir", err)
	}
	return nil
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
	var err error
	if p.TCP {
		p.Variant.Ports, err = freePorts(p.Variant)
	} else {
		p.Variant.IPCDir, err = s.socketDir()
	}
	if err != nil {
		return "", err
	}
	return topology.Generate(p.Variant)
}

// name is the cluster's: no other may have it on a broker that both use.
func (s *RunDir) name() string {
	sum := sha256.Sum256([]byte(s.Dir))
	return "run-" + hex.EncodeToString(sum[:4])
}

// longestDir leaves room for the names of sockets in the 104 bytes that some systems have for a path.
const longestDir = 70

// socketDir is below the run directory, or beside it when the path would be too long for a unix socket.
func (s *RunDir) socketDir() (string, error) {
	if dir := filepath.Join(s.Dir, "sock"); len(dir) <= longestDir {
		return dir, os.MkdirAll(dir, 0o700)
	}
	for _, base := range []string{os.TempDir(), "/tmp"} {
		dir, err := os.MkdirTemp(base, "posta-")
		if err != nil {
			continue
		}
		s.sockets = dir
		if len(dir) <= longestDir {
			return dir, nil
		}
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("no place for unix sockets: %s is too long a path; use --sockets tcp, or set TMPDIR to a short one", s.Dir)
}

// Close lets go of the directory. With remove, one that was made for this run is removed; one that was given never is.
func (s *RunDir) Close(remove bool) error {
	var errs []error
	if s.sockets != "" {
		errs = append(errs, os.RemoveAll(s.sockets))
	}
	if s.temporary && remove && s.Dir != "" {
		errs = append(errs, os.RemoveAll(s.Dir))
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Release())
	}
	return errors.Join(errs...)
}
