package security

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"posta.dev/posta/internal/owned"
)

// bundled is the files of a bundle, in the order in which Install replaces them. A process that reads the directory in between may see the new
// list of revoked keys beside the old CAs, but never an old list beside new CAs.
var bundled = []string{revokedFile, caFile, keyFile, certificateFile}

// Bundle is a key directory on its way to the machine whose process it is for: a tar archive. Whoever prints it sees its digest, because the
// archive is behind a function (S6, TestS6_ABundleIsNeverPrinted).
type Bundle struct {
	digest  string
	archive func() []byte
}

// ReadBundle reads the key directory of a process, and fails when others would not accept its certificate.
func ReadBundle(dir, cluster string, id Identity) (Bundle, error) {
	keys, err := Load(dir, cluster, nil)
	if err != nil {
		return Bundle{}, err
	}
	if keys.Identity() != id {
		return Bundle{}, fmt.Errorf("%w: the keys in %s are those of %s, not of %s; make them again (posta key init)", ErrUntrusted, dir, keys.Identity(), id)
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	public := sha256.New()
	for _, name := range bundled {
		text, err := readFile(dir, name, 0o022)
		if err != nil && (name != revokedFile || !errors.Is(err, fs.ErrNotExist)) {
			return Bundle{}, err
		}
		if name != keyFile { // the certificate tells which key it is
			fmt.Fprintf(public, "%s %d\n%s", name, len(text), text)
		}
		err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(owned.FileMode), Size: int64(len(text))})
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			return Bundle{}, fmt.Errorf("security: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return Bundle{}, fmt.Errorf("security: %w", err)
	}
	return Bundle{digest: hex.EncodeToString(public.Sum(nil)), archive: archive.Bytes}, nil
}

// Digest is the same for two bundles exactly if their files are. It tells nothing of the key.
func (b Bundle) Digest() string { return b.digest }

// String implements fmt.Stringer.
func (b Bundle) String() string { return "keys with the digest " + b.digest }

// WriteTo writes the archive, with the private key, for Install to read.
func (b Bundle) WriteTo(w io.Writer) (int64, error) {
	if b.archive == nil {
		return 0, errors.New("security: there are no keys to be carried")
	}
	n, err := w.Write(b.archive())
	return int64(n), err
}

// Install writes a bundle into a key directory, which it makes if it is not there. It looks at all files before it replaces the first one, and after
// a crash it can be called again. The archive may be one of tar, with other names of directories before those of the files.
func Install(dir string, archive io.Reader) (err error) {
	files, err := readArchive(archive)
	if err != nil {
		return fmt.Errorf("security: the keys for %s: %w; nothing is changed there", dir, err)
	}
	beside := dir + ".new"
	if err := errors.Join(os.RemoveAll(beside), owned.Dir(beside)); err != nil {
		return fmt.Errorf("security: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(beside)) }()
	for _, name := range bundled {
		if err := writeFile(beside, name, files[name]); err != nil {
			return err
		}
	}
	_, pairErr := ReadPair(beside)
	_, caErr := ReadCAs(beside)
	_, revokedErr := ReadRevoked(beside)
	if err := errors.Join(pairErr, caErr, revokedErr); err != nil {
		return fmt.Errorf("%w; nothing is changed in %s", err, dir)
	}
	if err := owned.Dir(dir); err != nil {
		return fmt.Errorf("security: %w", err)
	}
	for _, name := range bundled {
		if err := os.Rename(filepath.Join(beside, name), filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("security: %w", err)
		}
	}
	if err := owned.SyncDir(dir); err != nil {
		return fmt.Errorf("security: %w", err)
	}
	return nil
}

// readArchive reads the files of a bundle, each once. The list of revoked keys may be missing, which is an empty one.
func readArchive(archive io.Reader) (map[string][]byte, error) {
	files := map[string][]byte{}
	r := tar.NewReader(archive)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		name := filepath.Base(h.Name)
		switch {
		case h.Typeflag == tar.TypeDir:
			continue
		case h.Typeflag != tar.TypeReg || !slices.Contains(bundled, name) || files[name] != nil:
			return nil, fmt.Errorf("%.80q is none of the files of a key directory, or is there twice", h.Name)
		case h.Size > maxFile:
			return nil, fmt.Errorf("%s has more than %d bytes", name, maxFile)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		files[name] = append([]byte{}, text...)
	}
	for _, name := range bundled {
		if files[name] == nil && name != revokedFile {
			return nil, fmt.Errorf("there is no %s", name)
		}
	}
	return files, nil
}
