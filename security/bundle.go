package security

import (
	"archive/tar"
	"bytes"
	"crypto/hmac"
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

// bundled are the files of a bundle, in the order in which Install replaces them. A process that reads the directory meanwhile may see the
// new list of revoked keys beside the old CAs, but never an old list beside new CAs.
// brokerFile comes after keyFile: its digest needs the key
var bundled = []string{revokedFile, caFile, keyFile, certificateFile, brokerFile}

// optional are the files that a key directory may lack.
var optional = []string{revokedFile, brokerFile}

// Bundle is a key directory that is carried to the machine of its process, as a tar archive. Printing it shows only its digest, because the
// archive is behind a function (S6, TestS6_ABundleIsNeverPrinted).
type Bundle struct {
	digest  string
	archive func() []byte
}

// ReadBundle reads the key directory of a process, and fails if other processes would not accept its certificate. broker is the address of
// the cluster's broker, with its password, which is carried with the keys (S6); "" is for a process that needs none.
func ReadBundle(dir, cluster string, id Identity, broker string) (Bundle, error) {
	keys, err := Load(dir, cluster, nil)
	if err != nil {
		return Bundle{}, err
	}
	if keys.Identity() != id {
		return Bundle{}, fmt.Errorf("%w: the keys in %s are those of %s, not of %s; make them again (posta key init)", ErrUntrusted, dir,
			keys.Identity(), id)
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	public := sha256.New()
	var key []byte
	for _, name := range bundled {
		text, err := []byte(broker), error(nil)
		if name != brokerFile {
			text, err = readFile(dir, name, 0o022)
		}
		if err != nil && (name != revokedFile || !errors.Is(err, fs.ErrNotExist)) {
			return Bundle{}, err
		}
		switch name {
		case keyFile: // not in the digest, as the certificate identifies the key
			key = text
		case brokerFile:
			if broker == "" {
				continue
			}
			// Everybody who may query the engine sees the digest. Without the secret key in it, they could try passwords until the digest fits.
			mac := hmac.New(sha256.New, key)
			mac.Write(text)
			fmt.Fprintf(public, "%s %x\n", name, mac.Sum(nil))
		default:
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

// Digest returns the same text for two bundles exactly if their files are the same. It reveals neither the key nor the broker's password.
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

// Install writes a bundle into a key directory, which it makes if it is not there. It looks at all files before it replaces the first one,
// and after a crash it can be called again. The archive may also be made with tar, with other directory names before the file names.
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
		if name == brokerFile && files[name] == nil {
			continue
		}
		if err := writeFile(beside, name, files[name]); err != nil {
			return err
		}
	}
	_, pairErr := ReadPair(beside)
	_, caErr := ReadCAs(beside)
	_, revokedErr := ReadRevoked(beside)
	_, brokerErr := readBroker(beside)
	if err := errors.Join(pairErr, caErr, revokedErr, brokerErr); err != nil {
		return fmt.Errorf("%w; nothing is changed in %s", err, dir)
	}
	if err := owned.Dir(dir); err != nil {
		return fmt.Errorf("security: %w", err)
	}
	for _, name := range bundled {
		err := os.Rename(filepath.Join(beside, name), filepath.Join(dir, name))
		if name == brokerFile && files[name] == nil { // the process no longer needs a password
			err = os.RemoveAll(filepath.Join(dir, name))
		}
		if err != nil {
			return fmt.Errorf("security: %w", err)
		}
	}
	if err := owned.SyncDir(dir); err != nil {
		return fmt.Errorf("security: %w", err)
	}
	return nil
}

// readArchive reads the files of a bundle, each once. A missing list of revoked keys counts as an empty one. The broker's address may be
// missing, too.
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
			return nil, fmt.Errorf("%.80q does not belong to the files of a key directory, or is there twice", h.Name)
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
		if files[name] == nil && !slices.Contains(optional, name) {
			return nil, fmt.Errorf("there is no %s", name)
		}
	}
	return files, nil
}
