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

// Keys are the own key of a process and the peers that it trusts. All methods may be called from any goroutine.
type Keys struct {
	dir     string
	cluster string
	clients func() (Clients, error) // reads the clients again; nil if they never change
	now     func() time.Time
	loaded  atomic.Pointer[loaded]

	mu      sync.Mutex
	reloads map[int]func() // functions given to OnReload and not stopped yet
	next    int            // the next key of reloads
}

// loaded is what one reading of the key directory gave. It never changes.
type loaded struct {
	own         Identity
	certificate tls.Certificate
	expiry      time.Time
	trust       Trust
	broker      string // address of the broker; "" if it is not beside the keys
}

// Load reads a key directory. It fails when others would not accept its certificate. clients are those of the topology; a process that
// accepts no clients passes nil.
func Load(dir, cluster string, clients Clients) (*Keys, error) {
	k := &Keys{dir: dir, cluster: cluster, now: time.Now, reloads: map[int]func(){}}
	l, err := k.read(clients)
	if err != nil {
		return nil, err
	}
	if err := l.verifyOwn(k.now()); err != nil {
		return nil, fmt.Errorf("%w (the own certificate in %s)", err, dir)
	}
	k.loaded.Store(l)
	return k, nil
}

// ReloadClients makes each Reload read the clients again. If read fails, they stay as they were.
func (k *Keys) ReloadClients(read func() (Clients, error)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.clients = read
}

// Reload reads the directory again, and the clients: a new certificate, other CAs, more revoked keys. If a file cannot be read, Reload
// returns an error and everything stays as it was, with one exception: each key that a readable line of the list of revoked keys names is
// refused, because a damaged file must not keep a revoked peer connected. Reload does not check the process's own certificate: an expired
// certificate must not delay revocations. Reload calls the functions of OnReload, which recheck open connections. After an error it also
// calls them if peers have to be refused that were not refused before.
func (k *Keys) Reload() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.loaded.Load()
	clients, clientsErr := was.trust.Clients, error(nil)
	if k.clients != nil {
		var now Clients
		if now, clientsErr = k.clients(); clientsErr == nil {
			clients = now
		}
	}
	l, err := k.readAgain(clients)
	if clientsErr != nil {
		err = errors.Join(err, fmt.Errorf("security: read the clients again: %w; they stay as they were", clientsErr))
	}
	k.loaded.Store(l)
	if err != nil && len(l.trust.Revoked) == len(was.trust.Revoked) && slices.Equal(l.trust.CAs, was.trust.CAs) &&
		maps.Equal(l.trust.Clients, was.trust.Clients) {
		return err // no peer is newly refused
	}
	for _, recheck := range k.reloads {
		recheck()
	}
	return err
}

// readAgain returns the state that is in force from now on. It returns a state with an error, too.
func (k *Keys) readAgain(clients Clients) (*loaded, error) {
	was := k.loaded.Load()
	l, err := k.read(clients)
	if err == nil && l.own != was.own {
		err = fmt.Errorf("%w: the keys in %s are those of %s now, and this is %s", ErrUntrusted, k.dir, l.own, was.own)
	}
	revoked, listErr := ReadRevoked(k.dir)
	missing := listErr == nil && revoked == nil && len(was.trust.Revoked) > 0 // a list without keys is an empty file, not a missing one
	if missing {
		listErr = fmt.Errorf(
			"security: the file %s has gone from %s, and all that it named stays revoked; write an empty one if nothing is to be", revokedFile,
			k.dir)
	}
	if err == nil && listErr == nil {
		return l, nil
	}
	if err != nil {
		same := *was
		l = &same
		l.trust.Clients = clients
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

// OnReload registers a function that each Reload calls if the set of trusted peers may have changed, until stop is called. The function
// rechecks the sockets that use the keys, and must not call stop. When stop returns, no call is under way. On nil keys, OnReload does
// nothing.
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

func (k *Keys) read(clients Clients) (*loaded, error) {
	pair, err := ReadPair(k.dir)
	if err != nil {
		return nil, err
	}
	l := &loaded{trust: Trust{Cluster: k.cluster, Clients: clients}}
	if l.trust.CAs, err = ReadCAs(k.dir); err != nil {
		return nil, err
	}
	for _, ca := range l.trust.CAs {
		if ca.Subject.CommonName != k.cluster {
			return nil, fmt.Errorf("%w: ca.pem in %s is of the cluster %s, this is %s; use the keys of this cluster", ErrUntrusted, k.dir,
				ca.Subject.CommonName, k.cluster)
		}
	}
	if l.trust.Revoked, err = ReadRevoked(k.dir); err != nil {
		return nil, err
	}
	if l.broker, err = readBroker(k.dir); err != nil {
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

// verifyOwn makes the checks that peers will make. Only they have the list of clients, so a client assumes that its own key is listed.
func (l *loaded) verifyOwn(now time.Time) error {
	t := l.trust
	if l.own.Role == Client {
		t.Clients = Clients{FingerprintOf(l.certificate.Leaf.PublicKey.(ed25519.PublicKey)): l.own}
	}
	_, err := t.Verify(l.certificate.Certificate, now)
	return err
}

// ends returns when a certificate stops being accepted: at its own end, or at that of the CA that has issued it, if that is earlier.
func (l *loaded) ends(c *x509.Certificate) time.Time {
	end := c.NotAfter
	for _, ca := range l.trust.CAs {
		if c.CheckSignatureFrom(ca) == nil && ca.NotAfter.Before(end) {
			end = ca.NotAfter
		}
	}
	return end
}

// Identity returns the process's own identity. Its role is Client in a client's keys.
func (k *Keys) Identity() Identity { return k.loaded.Load().own }

// Fingerprint returns the process's own public key, by which [clients] names a client.
func (k *Keys) Fingerprint() Fingerprint {
	own, _ := k.loaded.Load().certificate.PrivateKey.(Key)
	return own.Fingerprint()
}

// Expiry returns when peers stop accepting the own certificate. Its owner is warned ExpiryWarning before.
func (k *Keys) Expiry() time.Time { return k.loaded.Load().expiry }

// Ends returns when a peer's certificate ends, or the CA that has issued it, if that is earlier.
func (k *Keys) Ends(peer *x509.Certificate) time.Time { return k.loaded.Load().ends(peer) }

// String names the directory and the identity.
func (k *Keys) String() string { return fmt.Sprintf("keys of %s in %s", k.Identity(), k.dir) }
