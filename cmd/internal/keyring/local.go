package keyring

import (
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// LocalClient is the name of the client key that posta up and posta run make when they make all keys, whichever user runs them. Processes
// that find their own keys below [security] keys admit this client with the role operate. It needs no line in [clients].
const LocalClient = "local"

// LocalHome returns the key directory of this machine's client.
func (k Ring) LocalHome() string {
	return k.Home(security.Identity{Role: security.Client, Name: LocalClient})
}

// HasLocal reports whether a command like posta up has made these keys, and not posta key init.
func (k Ring) HasLocal() bool {
	_, listed := k.ClientOf(LocalClient)
	return !listed && k.Has(string(security.Client)+"/"+LocalClient)
}

// LocalKey returns the public key of this machine's client; "" if there is none.
func (k Ring) LocalKey() (security.Fingerprint, error) {
	if !k.HasLocal() {
		return "", nil
	}
	c, err := k.Certificate(k.LocalHome())
	if c.Certificate == nil {
		return "", fmt.Errorf("read the key that posta up has made for its user: %w; remove %s, and posta up makes it again", err, k.LocalHome())
	}
	return c.Fingerprint, nil
}

// MakeLocalKeys makes keys for processes that listen on TCP, where other users of the machine could dial them (S1). It also makes a key for
// the user of this command. It keeps keys that are still good. It makes nothing in three cases: posta key init has made keys, because those
// are the operator's; all sockets are unix sockets; or insecure = true.
func MakeLocalKeys(x *call.Call, t *topology.Topology) (made int, err error) {
	k := Of(t)
	if !t.OverTCP() || t.Security.Insecure || k.ForProcesses() && !k.HasLocal() {
		return 0, nil
	}
	if _, listed := k.ClientOf(LocalClient); listed {
		return 0, exit.Usagef("%s: the client %q below [clients] has the name of the key that posta up makes for its user; give it another "+
			"one, or make all keys with `posta key init -f %[1]s`", t.File, LocalClient)
	}
	if k.Complete(time.Now()) {
		return 0, nil // checked before the lock is taken, so that commands that change nothing can run at the same time
	}
	lock, err := k.Open()
	if err != nil {
		return 0, fmt.Errorf("make keys for nodes on TCP: %w; [security] keys = names another directory", err)
	}
	defer func() { _ = lock.Release() }()
	now := time.Now()
	if k.Complete(now) {
		return 0, nil
	}
	if !k.good(k.LocalHome(), now) {
		err = k.newLocal(now) // first, because this key marks the others as not an operator's
		made++
	}
	var ca *security.CA
	if err == nil {
		ca, _, err = k.HaveCA(now)
	}
	if err == nil {
		var more int
		more, err = Issue(x, k, ca, now, security.ExpiryWarning)
		made += more
	}
	if err == nil {
		err = k.Share()
	}
	if err != nil {
		return 0, fmt.Errorf("make keys: %w", err)
	}
	return made, nil
}

// ForProcesses reports whether there are keys of nodes or medics, or the CA that issues them.
func (k Ring) ForProcesses() bool {
	return k.Has(CADir) || k.Has(string(security.Node)) || k.Has(string(security.Medic))
}

// LocalKeys makes keys for a cluster that only this machine reaches. If other machines reach it, the operator makes the keys.
func LocalKeys(x *call.Call, t *topology.Topology) error {
	if len(t.Exposed()) > 0 {
		return nil
	}
	made, err := MakeLocalKeys(x, t)
	if err == nil && made > 0 {
		x.Notef("made %s in %s: nodes listen on TCP, and only holders of a key get in", units.Plural(made, "key"), t.KeysDir)
	}
	return err
}

func (k Ring) newLocal(now time.Time) error {
	id := security.Identity{Role: security.Client, Name: LocalClient}
	pair, err := security.NewClient(k.Topology.Name, LocalClient, now)
	if err == nil {
		err = k.NoteIssued(Owner{id, pair.Key.Fingerprint()})
	}
	if err == nil {
		err = security.WritePair(k.LocalHome(), pair)
	}
	return err
}

// Complete reports whether all processes and this machine's client have keys that can stay, and what share writes beside them: a command
// that was killed between the two leaves certificates with no CA to check others by.
func (k Ring) Complete(now time.Time) bool {
	dirs := []string{k.LocalHome()}
	for _, id := range k.Processes() {
		dirs = append(dirs, k.Home(id))
	}
	return !slices.ContainsFunc(dirs, func(dir string) bool { return !k.good(dir, now) || !k.Shared(dir) })
}

// good reports whether a key directory can stay as it is.
func (k Ring) good(dir string, now time.Time) bool {
	revoked, err := security.ReadRevoked(k.Dir)
	if err != nil {
		return false
	}
	c, err := k.Certificate(dir)
	return err == nil && !revoked[c.Fingerprint] && !c.ExpiresSoon(now)
}
