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

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Directories of an operator's keys. Those of processes are ROLE/NAME below the operator's directory. Each holds what its process gets:
// key.pem, cert.pem, ca.pem and revoked.
const (
	caDir       = "ca"        // signs
	nextCADir   = "ca-next"   // trusted already; signs from the next step of a rotation on
	formerCADir = "ca-former" // still trusted
	goneCADir   = "ca-gone"   // no longer trusted, and being removed
)

// keyring is an operator's directory of keys.
type keyring struct {
	dir string
	t   *topology.Topology
}

func (k keyring) at(name string) string { return filepath.Join(k.dir, name) }

// home returns the key directory of one process.
func (k keyring) home(id security.Identity) string {
	if id.Role != security.Node && id.Role != security.Medic {
		id.Role = security.Client
	}
	return filepath.Join(k.dir, filepath.FromSlash(id.String()))
}

// open takes the directory for this command alone, and makes it if there is none.
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

// isThere returns an error if there is no directory of keys. It does not ask for the CA, which may be elsewhere.
func (k keyring) isThere() error {
	for _, name := range []string{caDir, string(security.Node), string(security.Medic), string(security.Client)} {
		if k.has(name) {
			return nil
		}
	}
	return exit.Usagef("there are no keys of cluster %s in %s: make them with `posta key init -f %s`", k.t.Name, k.dir, k.t.File)
}

// processes returns all nodes and medics of the topology.
func (k keyring) processes() (all []security.Identity) {
	for _, n := range k.t.Nodes() {
		all = append(all, security.Identity{Role: security.Node, Name: string(n.ID)})
	}
	for _, n := range k.t.MedicNodes() {
		all = append(all, security.Identity{Role: security.Medic, Name: string(n.ID)})
	}
	return all
}

// made returns all identities that have a key directory, including those that have left the topology.
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

// errAbsent is wrapped by errors about a missing directory of a CA or of a process.
var errAbsent = errors.New("it is not there")

// ca reads one of the CAs, to sign with it. The error wraps errAbsent if there is none. A certificate without its key does not count as
// absent: a new CA in its place would split the cluster in two.
func (k keyring) ca(name string) (*security.CA, error) {
	if _, err := k.caCertificate(name); err != nil {
		return nil, err
	}
	ca, err := security.ReadCA(k.at(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Usagef("the key of the CA is elsewhere: %s has only its certificate; run this command where key.pem of the CA is, or copy "+
			"key.pem there for this command", k.at(name))
	}
	return ca, err
}

// caCertificate reads the certificate of a CA, which other processes trust.
func (k keyring) caCertificate(name string) (*x509.Certificate, error) {
	if !k.has(name) {
		return nil, fmt.Errorf("%s: %w", k.at(name), errAbsent)
	}
	c, err := security.ReadCACertificate(k.at(name))
	if err == nil && c.Subject.CommonName != k.t.Name {
		err = exit.Usagef("the keys in %s are those of cluster %s, and %s is of cluster %s; name another directory with keys = below [security]",
			k.dir, c.Subject.CommonName, k.t.File, k.t.Name)
	}
	return c, err
}

// trusted returns the CAs that all processes have to trust. The one that signs comes first.
func (k keyring) trusted() (cas []*x509.Certificate, err error) {
	for _, name := range []string{caDir, nextCADir, formerCADir} {
		ca, err := k.caCertificate(name)
		switch {
		case errors.Is(err, errAbsent):
		case err != nil:
			return nil, err
		default:
			cas = append(cas, ca)
		}
	}
	return cas, nil
}

// certificate is the certificate of a process, with its fingerprint.
type certificate struct {
	*x509.Certificate
	fingerprint security.Fingerprint
}

// certificate reads the certificate in a key directory. It returns the certificate even if the private key beside it cannot be used. The
// error wraps errAbsent if there is no directory, and fs.ErrNotExist if one of the two files is missing.
func (k keyring) certificate(dir string) (c certificate, err error) {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("%s: %w", dir, errAbsent)
	}
	if c.Certificate, err = security.ReadCertificate(dir); err != nil {
		return certificate{}, err
	}
	key, ok := c.PublicKey.(ed25519.PublicKey)
	if !ok {
		return certificate{}, fmt.Errorf("the key in %s is of another kind; remove the directory and make it again", dir)
	}
	c.fingerprint = security.FingerprintOf(key)
	_, err = security.ReadPair(dir)
	return c, err
}

// share writes the trusted CAs and the list of revoked keys into every key directory.
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

// shareWith writes both into these directories. A broken directory or CA does not stop it, because a revocation has to reach all the
// others.
func (k keyring) shareWith(dirs ...string) error {
	revoked, err := security.ReadRevoked(k.dir)
	if err != nil {
		return err
	}
	cas, err := k.trusted()
	all := []error{err}
	for _, dir := range dirs {
		all = append(all, security.RevokeAll(dir, revoked))
		if len(cas) > 0 && err == nil {
			all = append(all, security.WriteCAs(dir, cas...))
		}
	}
	return errors.Join(all...)
}

// shared reports whether share would change nothing in a key directory.
func (k keyring) shared(dir string) bool {
	revoked, err := security.ReadRevoked(k.dir)
	if err != nil {
		return false
	}
	cas, err := k.trusted()
	if err != nil {
		return false
	}
	if has, err := security.ReadCAs(dir); err != nil || len(cas) > 0 && !slices.EqualFunc(has, cas, (*x509.Certificate).Equal) {
		return false
	}
	has, err := security.ReadRevoked(dir)
	for key := range revoked {
		if !has[key] {
			return false
		}
	}
	return err == nil && has != nil // nil: there is no list
}

// replace returns why a process needs another certificate; "" if it needs none. One that ends before until is replaced.
func (c certificate) replace(ca *x509.Certificate, revoked map[security.Fingerprint]bool, until time.Time) string {
	switch {
	case revoked[c.fingerprint]:
		return "revoked"
	case c.CheckSignatureFrom(ca) != nil:
		return "of another CA"
	case c.NotAfter.Before(until):
		return "expiring"
	}
	return ""
}

func (c certificate) expiresSoon(now time.Time) bool {
	return c.NotAfter.Before(now.Add(security.ExpiryWarning))
}

// clientOf returns a client of the topology.
func (k keyring) clientOf(name string) (topology.Client, bool) {
	i := slices.IndexFunc(k.t.Clients, func(c topology.Client) bool { return c.Name == name })
	if i < 0 {
		return topology.Client{}, false
	}
	return k.t.Clients[i], true
}
