package cmd

import (
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Directories of an operator's keys. Those of processes are ROLE/NAME below it, and each is what a process gets: key.pem, cert.pem, ca.pem and
// revoked.
const (
	caDir       = "ca"        // signs
	nextCADir   = "ca-next"   // trusted already, and signs from the next step of a rotation on
	formerCADir = "ca-former" // trusted still
)

// keyring is an operator's directory of keys.
type keyring struct {
	dir string
	t   *topology.Topology
}

func (k keyring) at(name string) string { return filepath.Join(k.dir, name) }

// home is the key directory of one process.
func (k keyring) home(id security.Identity) string {
	if id.Role != security.Node && id.Role != security.Medic {
		id.Role = security.Client
	}
	return filepath.Join(k.dir, filepath.FromSlash(id.String()))
}

// open takes the directory for this command alone. It is made if there is none.
func (k keyring) open() (*local.Lock, error) {
	err := owned.Path(k.dir)
	if err == nil {
		err = owned.Dir(k.dir)
	}
	if err != nil {
		return nil, fmt.Errorf("use the directory of keys: %w", err)
	}
	lock, err := local.TakeLock(k.at("lock"))
	if err != nil {
		return nil, fmt.Errorf("use the directory of keys: %w; somebody else is changing it", err)
	}
	return lock, nil
}

// isThere says whether there is a directory of keys.
func (k keyring) isThere() error {
	if _, err := os.Stat(k.at(caDir)); err != nil {
		return fmt.Errorf("there are no keys of cluster %s in %s: make them with `posta key init -f %s` (%w)", k.t.Name, k.dir, k.t.File, err)
	}
	return nil
}

// processes is all nodes and medics of the topology.
func (k keyring) processes() (all []security.Identity) {
	for _, n := range k.t.Nodes() {
		all = append(all, security.Identity{Role: security.Node, Name: string(n.ID)})
	}
	for _, n := range k.t.MedicNodes() {
		all = append(all, security.Identity{Role: security.Medic, Name: string(n.ID)})
	}
	return all
}

// made is everybody who has a key directory, also those that have left the topology.
func (k keyring) made() (all []security.Identity, err error) {
	for _, role := range []security.Role{security.Node, security.Medic, security.Client} {
		entries, err := os.ReadDir(k.at(string(role)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() && security.ValidName(e.Name()) == nil {
				all = append(all, security.Identity{Role: role, Name: e.Name()})
			}
		}
	}
	return all, nil
}

// ca reads one of the CAs. The error wraps fs.ErrNotExist if there is none.
func (k keyring) ca(name string) (*security.CA, error) {
	if _, err := os.Lstat(k.at(name)); err != nil {
		return nil, err
	}
	ca, err := security.ReadCA(k.at(name))
	if err == nil && ca.Cluster() != k.t.Name {
		err = usagef("the keys in %s are those of cluster %s, and %s is of cluster %s; name another directory with keys = below [security]", k.dir, ca.Cluster(), k.t.File, k.t.Name)
	}
	return ca, err
}

// trusted is the CAs that all processes are to trust: the one that signs comes first.
func (k keyring) trusted() (cas []*x509.Certificate, err error) {
	for _, name := range []string{caDir, nextCADir, formerCADir} {
		ca, err := k.ca(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			cas = append(cas, ca.Certificate())
		}
	}
	return cas, nil
}

// certificate is a process's, with its fingerprint.
type certificate struct {
	*x509.Certificate
	fingerprint security.Fingerprint
}

// certificate reads the certificate in a key directory. The error wraps fs.ErrNotExist if there is none.
func (k keyring) certificate(dir string) (c certificate, err error) {
	if _, err := os.Lstat(dir); err != nil {
		return c, err
	}
	pair, err := security.ReadPair(dir)
	if err == nil {
		c.Certificate, err = x509.ParseCertificate(pair.Certificate)
	}
	if err != nil {
		return c, err
	}
	key, ok := c.PublicKey.(ed25519.PublicKey)
	if !ok {
		return c, fmt.Errorf("the key in %s is of another kind; remove the directory and make it again", dir)
	}
	c.fingerprint = security.FingerprintOf(key)
	return c, nil
}

// share tells everybody who has a key whom to trust, and whom not.
func (k keyring) share() error {
	all, err := k.made()
	if err != nil {
		return err
	}
	dirs := []string{k.dir}
	for _, id := range all {
		dirs = append(dirs, k.home(id))
	}
	return k.shareWith(dirs...)
}

func (k keyring) shareWith(dirs ...string) error {
	cas, err := k.trusted()
	if err != nil {
		return err
	}
	revoked, err := security.ReadRevoked(k.dir)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if len(cas) > 0 {
			if err := security.WriteCAs(dir, cas...); err != nil {
				return err
			}
		}
		for key := range revoked {
			if err := security.Revoke(dir, key, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// replace says why a process needs another certificate, "" if it does not.
func (c certificate) replace(ca *x509.Certificate, revoked map[security.Fingerprint]bool, now time.Time) string {
	switch {
	case revoked[c.fingerprint]:
		return "revoked"
	case c.CheckSignatureFrom(ca) != nil:
		return "of another CA"
	case c.expiresSoon(now):
		return "expiring"
	}
	return ""
}

func (c certificate) expiresSoon(now time.Time) bool {
	return c.NotAfter.Before(now.Add(security.ExpiryWarning))
}

// clientOf is a client of the topology.
func (k keyring) clientOf(name string) (topology.Client, bool) {
	i := slices.IndexFunc(k.t.Clients, func(c topology.Client) bool { return c.Name == name })
	if i < 0 {
		return topology.Client{}, false
	}
	return k.t.Clients[i], true
}
