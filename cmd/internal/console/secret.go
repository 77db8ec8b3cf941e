package console

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/topology"
)

// secretFile is the file in which the consoles of a host keep their secret, in a cluster without keys. In containers they share its
// directory.
func secretFile(t *topology.Topology) string {
	return filepath.Join(t.DataDir, topology.ConsoleDir, "secret")
}

const secretLength = 43 // 256 bits in base64

// haveSecret reads the secret, and makes it if there is none. Several processes may call it at a time: the lock lets only one make
// the secret.
func haveSecret(t *topology.Topology) (secret []byte, err error) {
	name := secretFile(t)
	if err := owned.Dir(filepath.Dir(name)); err != nil {
		return nil, fmt.Errorf("console: make a directory for its secret: %w", err)
	}
	f, err := owned.Open(name)
	if err != nil {
		return nil, fmt.Errorf("console: open its secret: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		secret, err = io.ReadAll(io.LimitReader(f, secretLength+1))
	}
	if err != nil {
		return nil, fmt.Errorf("console: read its secret: %w", err)
	}
	if len(secret) == secretLength {
		return secret, nil
	}
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	secret = []byte(base64.RawURLEncoding.EncodeToString(b[:]))
	if err = f.Truncate(0); err == nil { // removes what a crash or a full disk has left of another secret
		_, err = f.WriteAt(secret, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("console: write its secret: %w", err)
	}
	return secret, f.Sync()
}

// ForgetSecret removes the secret, so that nothing that was signed with it is good after the next posta up.
func ForgetSecret(t *topology.Topology) error {
	if err := os.Remove(secretFile(t)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the secret of the console: %w", err)
	}
	return nil
}

// ErrNoSecret is wrapped by ReadSecret if there is none.
var ErrNoSecret = errors.New("no console of this cluster has run here yet")

// ReadSecret reads the secret as the user of posta console --login.
func ReadSecret(t *topology.Topology) ([]byte, error) {
	name := secretFile(t)
	secret, err := owned.Read(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(secret) != secretLength {
		return nil, fmt.Errorf("%w: the data of %s has no secret of one; run it on the machine of the medics, and where they are containers "+
			"within that of a console: docker exec CONTAINER /bin/posta console --login", ErrNoSecret, t.File)
	}
	if err != nil {
		return nil, fmt.Errorf("read the secret of the console: %w; only the user who started the cluster can read it", err)
	}
	return secret, nil
}
