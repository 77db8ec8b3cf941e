package security

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"posta.dev/posta/internal/owned"
)

// The files of a key directory.
const (
	keyFile         = "key.pem"  // PKCS #8
	certificateFile = "cert.pem" // of that key
	caFile          = "ca.pem"   // one CA, or two while it is being replaced
	revokedFile     = "revoked"  // optional
	brokerFile      = "broker"   // optional: the address of the cluster's broker, with its password
)

// ErrUnsafeFile is returned for a file or directory of keys that somebody else owns, may read or may change.
var ErrUnsafeFile = errors.New("security: a file of keys is not safe")

// maxFile bounds the size of one file, in bytes: 10,000 revoked keys take 600 KB.
const maxFile = 1 << 20

// readFile reads a file of a key directory. It checks type, owner and mode of the opened file and not of its name, so that the file cannot
// be exchanged in between. forbidden are the bits of the mode that must not be set.
func readFile(dir, name string, forbidden fs.FileMode) ([]byte, error) {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe must not wait
	if err != nil {
		return nil, fmt.Errorf("security: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("security: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a file; "+again, ErrUnsafeFile, path)
	}
	if err := safe(path, info, forbidden); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("security: %w", err)
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("security: %s has more than %d bytes", path, maxFile)
	}
	return b, nil
}

// safe checks owner and mode. Root may own anything, because it can change everything anyway.
func safe(path string, info fs.FileInfo, forbidden fs.FileMode) error {
	us := os.Geteuid()
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != us && s.Uid != 0 {
		return fmt.Errorf("%w: %s belongs to the user with the id %d, and not to %d, who runs this; run: chown %d %s", ErrUnsafeFile, path,
			s.Uid, us, us, path)
	}
	if mode := info.Mode().Perm(); mode&forbidden != 0 {
		return fmt.Errorf("%w: %s has the mode %04o, so that others can use it; run: chmod %04o %s", ErrUnsafeFile, path, mode,
			mode&^forbidden&0o700, path)
	}
	return nil
}

// safeDir checks that nobody else can replace the files of a directory.
func safeDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("security: %w; make the keys with posta key init, or posta key new for a client", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%w: %s is not a directory", ErrUnsafeFile, dir)
	}
	return safe(dir, info, 0o022)
}

// writeFile replaces a file as a whole: after a crash it has the old content or the new one, and nobody else could ever read it.
func writeFile(dir, name string, content []byte) error {
	if err := owned.Write(filepath.Join(dir, name), string(content), true); err != nil {
		return fmt.Errorf("security: %w", err)
	}
	return nil
}
