package security

import (
	"cmp"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Keys are the own key of a process and whom it trusts. All methods may be called from any goroutine.
type Keys struct {
	dir     string
	cluster string
	clients Clients
	now     func() time.Time
	loaded  atomic.Pointer[loaded]

	mu      sync.Mutex
	reloads map[int]func() // what OnReload was given and is not over
	next    int            // the next key of reloads
}

// loaded is what one reading of the key directory gave. It never changes.
type loaded struct {
	own         Identity
	certificate tls.Certificate
	expiry      time.Time
	trust       Trust
}

// Load reads a key directory, and fails when others would not accept its certificate. clients are those of the topology; who accepts no clients
// passes nil.
func Load(dir, cluster string, clients Clients) (*Keys, error) {
	k := &Keys{dir: dir, cluster: cluster, clients: clients, now: time.Now, reloads: map[int]func(){}}
	l, err := k.read()
	if err != nil {
		return nil, err
	}
	if err := l.verifyOwn(k.now()); err != nil {
		return nil, fmt.Errorf("%w (the own certificate in %s)", err, dir)
	}
	k.loaded.Store(l)
	return k, nil
}

// Reload reads the directory again: a new certificate, other CAs, more revoked keys. If a file cannot be read the error says so, and all stays as it
// was but for one thing: what the list of revoked keys says, as far as it can be read, is in force, because a damaged file must not keep somebody in.
// That the own certificate has expired or is revoked is no reason to ignore what else is revoked, so it is not asked here. Connections that are open
// hear of it by Recheck of their sockets, which is for functions of OnReload to call; they are called beside an error, too, if it left anything to do.
func (k *Keys) Reload() error {
	was := k.loaded.Load()
	l, err := k.readAgain()
	k.loaded.Store(l)
	if err != nil && len(l.trust.Revoked) == len(was.trust.Revoked) && slices.Equal(l.trust.CAs, was.trust.CAs) {
		return err // nobody is refused who was not
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, recheck := range k.reloads {
		recheck()
	}
	return err
}

// readAgain returns what is in force from now on, also with an error.
func (k *Keys) readAgain() (*loaded, error) {
	was := k.loaded.Load()
	l, err := k.read()
	if err == nil && l.own != was.own {
		err = fmt.Errorf("%w: the keys in %s are those of %s now, and this is %s", ErrUntrusted, k.dir, l.own, was.own)
	}
	revoked, listErr := ReadRevoked(k.dir)
	missing := listErr == nil && revoked == nil && len(was.trust.Revoked) > 0 // an empty list is an empty file
	if missing {
		listErr = fmt.Errorf("security: the file %s has gone from %s, and all that it named stays revoked; write an empty one if nothing is to be", revokedFile, k.dir)
	}
	if err == nil && listErr == nil {
		return l, nil
	}
	if err != nil {
		same := *was
		l = &same
	}
	l.trust.Revoked = union(was.trust.Revoked, revoked)
	switch {
	case missing:
		return l, errors.Join(err, listErr)
	case listErr != nil:
		return l, fmt.Errorf("%w; the lines of %s that can be read are in force, all else stays as it was", cmp.Or(err, listErr), revokedFile)
	}
	return l, fmt.Errorf("%w; what is revoked is in force, all else stays as it was", err)
}

func union(a, b map[Fingerprint]bool) map[Fingerprint]bool {
	all := map[Fingerprint]bool{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

// OnReload has a function called in each Reload that may have changed whom the process trusts, until stop. It rechecks the sockets that use the keys, and must not call stop.
// When stop returns, no call is under way. Without keys nothing is called.
func (k *Keys) OnReload(recheck func()) (stop func()) {
	if k == nil {
		return func() {}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.next
	k.next++
	k.reloads[n] = recheck
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.reloads, n)
	}
}

func (k *Keys) read() (*loaded, error) {
	pair, err := ReadPair(k.dir)
	if err != nil {
		return nil, err
	}
	l := &loaded{trust: Trust{Cluster: k.cluster, Clients: k.clients}}
	if l.trust.CAs, err = ReadCAs(k.dir); err != nil {
		return nil, err
	}
	for _, ca := range l.trust.CAs {
		if ca.Subject.CommonName != k.cluster {
			return nil, fmt.Errorf("%w: ca.pem in %s is of the cluster %s, this is %s; use the keys of this cluster", ErrUntrusted, k.dir, ca.Subject.CommonName, k.cluster)
		}
	}
	if l.trust.Revoked, err = ReadRevoked(k.dir); err != nil {
		return nil, err
	}
	c, err := x509.ParseCertificate(pair.Certificate)
	if err == nil {
		l.own, err = l.trust.identify(c)
	}
	if err != nil {
		return nil, fmt.Errorf("%w (the own certificate in %s)", err, k.dir)
	}
	l.certificate = tls.Certificate{Certificate: [][]byte{pair.Certificate}, PrivateKey: pair.Key, Leaf: c}
	l.expiry = l.ends(c)
	return l, nil
}

// verifyOwn asks what others will ask. A client's own key is not in its list: others have that list.
func (l *loaded) verifyOwn(now time.Time) error {
	t := l.trust
	if l.own.Role == Client {
		t.Clients = Clients{FingerprintOf(l.certificate.Leaf.PublicKey.(ed25519.PublicKey)): l.own}
	}
	_, err := t.Verify(l.certificate.Certificate, now)
	return err
}

// ends is when others will no longer accept the own certificate. Of two CAs the one that has issued it counts.
func (l *loaded) ends(c *x509.Certificate) time.Time {
	end := c.NotAfter
	for _, ca := range l.trust.CAs {
		if c.CheckSignatureFrom(ca) == nil && ca.NotAfter.Before(end) {
			end = ca.NotAfter
		}
	}
	return end
}

// Identity is the own one. Its role is Client in a client's keys.
func (k *Keys) Identity() Identity { return k.loaded.Load().own }

// Expiry is when others stop to accept the own certificate. Its owner is warned ExpiryWarning before.
func (k *Keys) Expiry() time.Time { return k.loaded.Load().expiry }

// String names the directory and the identity.
func (k *Keys) String() string { return fmt.Sprintf("keys of %s in %s", k.Identity(), k.dir) }
