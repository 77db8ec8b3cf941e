package keyring

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
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/topology/rundir"
)

// Directories of an operator's keys. Those of processes are ROLE/NAME below the operator's directory. Each holds what its process gets:
// key.pem, cert.pem, ca.pem and revoked.
const (
	CADir       = "ca"        // signs
	NextCADir   = "ca-next"   // trusted already; signs from the next step of a rotation on
	FormerCADir = "ca-former" // still trusted
	GoneCADir   = "ca-gone"   // no longer trusted, and being removed
)

// Ring is an operator's directory of keys.
type Ring struct {
	Dir      string
	Topology *topology.Topology
}

// Of returns the directory of a topology's keys.
func Of(t *topology.Topology) Ring { return Ring{Dir: t.KeysDir, Topology: t} }

// At returns the path of a file or directory of the ring.
func (k Ring) At(name string) string { return filepath.Join(k.Dir, name) }

// Home returns the key directory of one process.
func (k Ring) Home(id security.Identity) string {
	if id.Role != security.Node && id.Role != security.Medic {
		id.Role = security.Client
	}
	return filepath.Join(k.Dir, filepath.FromSlash(id.String()))
}

// Open takes the directory for this command alone, and makes it if there is none.
func (k Ring) Open() (*rundir.Lock, error) {
	err := owned.Path(k.Dir)
	if err == nil {
		err = owned.Dir(k.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("use the directory of keys: %w", err)
	}
	lock, err := rundir.TakeLock(k.At("lock"))
	if err != nil {
		return nil, fmt.Errorf("use the directory of keys: %w; somebody else is changing it", err)
	}
	return lock, nil
}

// IsThere returns an error if there is no directory of keys. It does not ask for the CA, which may be elsewhere.
func (k Ring) IsThere() error {
	if slices.ContainsFunc([]string{CADir, string(security.Node), string(security.Medic), string(security.Client)}, k.Has) {
		return nil
	}
	return exit.Usagef("there are no keys of cluster %s in %s: make them with `posta key init -f %s`", k.Topology.Name, k.Dir, k.Topology.File)
}

// Processes returns all nodes and medics of the topology.
func (k Ring) Processes() (all []security.Identity) {
	for _, n := range k.Topology.Nodes() {
		all = append(all, security.Identity{Role: security.Node, Name: string(n.ID)})
	}
	for _, n := range k.Topology.MedicNodes() {
		all = append(all, security.Identity{Role: security.Medic, Name: string(n.ID)})
	}
	return all
}

// Made returns all identities that have a key directory, including those that have left the topology.
func (k Ring) Made() (all []security.Identity, err error) {
	for _, role := range []security.Role{security.Node, security.Medic, security.Client} {
		entries, err := os.ReadDir(k.At(string(role)))
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

// ErrAbsent is wrapped by errors about a missing directory of a CA or of a process.
var ErrAbsent = errors.New("it is not there")

// CA reads one of the CAs, to sign with it. The error wraps ErrAbsent if there is none. A certificate without its key does not count as
// absent: a new CA in its place would split the cluster in two.
func (k Ring) CA(name string) (*security.CA, error) {
	if _, err := k.caCertificate(name); err != nil {
		return nil, err
	}
	ca, err := security.ReadCA(k.At(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Usagef("the key of the CA is elsewhere: %s has only its certificate; run this command where key.pem of the CA is, or "+
			"copy key.pem there for this command", k.At(name))
	}
	return ca, err
}

// caCertificate reads the certificate of a CA, which other processes trust.
func (k Ring) caCertificate(name string) (*x509.Certificate, error) {
	if !k.Has(name) {
		return nil, fmt.Errorf("%s: %w", k.At(name), ErrAbsent)
	}
	c, err := security.ReadCACertificate(k.At(name))
	if err == nil && c.Subject.CommonName != k.Topology.Name {
		err = exit.Usagef("the keys in %s are those of cluster %s, and %s is of cluster %s; name another directory with keys = below [security]",
			k.Dir, c.Subject.CommonName, k.Topology.File, k.Topology.Name)
	}
	return c, err
}

// trusted returns the CAs that all processes have to trust. The one that signs comes first.
func (k Ring) trusted() (cas []*x509.Certificate, err error) {
	for _, name := range []string{CADir, NextCADir, FormerCADir} {
		ca, err := k.caCertificate(name)
		switch {
		case errors.Is(err, ErrAbsent):
		case err != nil:
			return nil, err
		default:
			cas = append(cas, ca)
		}
	}
	return cas, nil
}

// Certificate is the certificate of a process, with its fingerprint.
type Certificate struct {
	*x509.Certificate
	Fingerprint security.Fingerprint
}

// Certificate reads the certificate in a key directory. It returns the certificate even if the private key beside it cannot be used. The
// error wraps ErrAbsent if there is no directory, and fs.ErrNotExist if one of the two files is missing.
func (k Ring) Certificate(dir string) (c Certificate, err error) {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("%s: %w", dir, ErrAbsent)
	}
	if c.Certificate, err = security.ReadCertificate(dir); err != nil {
		return Certificate{}, err
	}
	key, ok := c.PublicKey.(ed25519.PublicKey)
	if !ok {
		return Certificate{}, fmt.Errorf("the key in %s is of another kind; remove the directory and make it again", dir)
	}
	c.Fingerprint = security.FingerprintOf(key)
	_, err = security.ReadPair(dir)
	return c, err
}

// Share writes the trusted CAs and the list of revoked keys into every key directory.
func (k Ring) Share() error {
	all, err := k.Made()
	if err != nil {
		return err
	}
	dirs := []string{k.Dir}
	for _, id := range all {
		dirs = append(dirs, k.Home(id))
	}
	return k.ShareWith(dirs...)
}

// ShareWith writes both into these directories. A broken directory or CA does not stop it, because a revocation has to reach all the
// others.
func (k Ring) ShareWith(dirs ...string) error {
	revoked, err := security.ReadRevoked(k.Dir)
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

// Shared reports whether share would change nothing in a key directory.
func (k Ring) Shared(dir string) bool {
	revoked, err := security.ReadRevoked(k.Dir)
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
func (c Certificate) replace(ca *x509.Certificate, revoked map[security.Fingerprint]bool, until time.Time) string {
	switch {
	case revoked[c.Fingerprint]:
		return "revoked"
	case c.CheckSignatureFrom(ca) != nil:
		return "of another CA"
	case c.NotAfter.Before(until):
		return "expiring"
	}
	return ""
}

// ExpiresSoon reports whether the certificate ends within security.ExpiryWarning.
func (c Certificate) ExpiresSoon(now time.Time) bool {
	return c.NotAfter.Before(now.Add(security.ExpiryWarning))
}

// ClientOf returns a client of the topology.
func (k Ring) ClientOf(name string) (topology.Client, bool) {
	i := slices.IndexFunc(k.Topology.Clients, func(c topology.Client) bool { return c.Name == name })
	if i < 0 {
		return topology.Client{}, false
	}
	return k.Topology.Clients[i], true
}
