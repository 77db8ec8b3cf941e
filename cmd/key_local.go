package cmd

import (
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// localClient is the name of the client key that posta up and posta run make when they make all keys, whichever user runs them. Processes
// that find their own keys below [security] keys admit this client with the role operate. It needs no line in [clients].
const localClient = "local"

func (k keyring) localHome() string {
	return k.home(security.Identity{Role: security.Client, Name: localClient})
}

// hasLocal reports whether a command like posta up has made these keys, and not posta key init.
func (k keyring) hasLocal() bool {
	_, listed := k.clientOf(localClient)
	return !listed && k.has(string(security.Client)+"/"+localClient)
}

// localKey returns the public key of this machine's client; "" if there is none.
func (k keyring) localKey() (security.Fingerprint, error) {
	if !k.hasLocal() {
		return "", nil
	}
	c, err := k.certificate(k.localHome())
	if c.Certificate == nil {
		return "", fmt.Errorf("read the key that posta up has made for its user: %w; remove %s, and posta up makes it again", err, k.localHome())
	}
	return c.fingerprint, nil
}

const flagLocalClient = "local-client"

// localClientFlag is for processes in containers, which do not see the user's directory of keys. The flag holds a public key, which is not
// a secret.
func localClientFlag() cli.Flag {
	return &cli.StringFlag{Name: flagLocalClient, Hidden: true,
		Usage: "let the client with this public `KEY` in, as posta topology compose has it"}
}

// makeLocalKeys makes keys for processes that listen on TCP, where other users of the machine could dial them (S1). It also makes a key for
// the user of this command. It keeps keys that are still good. It makes nothing in three cases: posta key init has made keys, because those
// are the operator's; all sockets are unix sockets; or insecure = true.
func (x *command) makeLocalKeys(t *topology.Topology) (made int, err error) {
	k := keyring{dir: t.KeysDir, t: t}
	if !t.OverTCP() || t.Security.Insecure || k.forProcesses() && !k.hasLocal() {
		return 0, nil
	}
	if _, listed := k.clientOf(localClient); listed {
		return 0, exit.Usagef("%s: the client %q below [clients] has the name of the key that posta up makes for its user; give it another one, or "+
			"make all keys with `posta key init -f %[1]s`", t.File, localClient)
	}
	if k.complete(time.Now()) {
		return 0, nil // checked before the lock is taken, so that commands that change nothing can run at the same time
	}
	lock, err := k.open()
	if err != nil {
		return 0, fmt.Errorf("make keys for nodes on TCP: %w; [security] keys = names another directory", err)
	}
	defer func() { _ = lock.Release() }()
	now := time.Now()
	if k.complete(now) {
		return 0, nil
	}
	if !k.good(k.localHome(), now) {
		err = k.newLocal(now) // first, because this key marks the others as not an operator's
		made++
	}
	var ca *security.CA
	if err == nil {
		ca, _, err = k.haveCA(now)
	}
	if err == nil {
		var more int
		more, err = x.issue(k, ca, now, security.ExpiryWarning)
		made += more
	}
	if err == nil {
		err = k.share()
	}
	if err != nil {
		return 0, fmt.Errorf("make keys: %w", err)
	}
	return made, nil
}

// forProcesses reports whether there are keys of nodes or medics, or the CA that issues them.
func (k keyring) forProcesses() bool {
	return k.has(caDir) || k.has(string(security.Node)) || k.has(string(security.Medic))
}

// runKeys makes the keys of a cluster for one run, and returns the run's own keys; nil if it needs none. The keys are removed with the
// run's directory, unless the topology names another place.
func (x *command) runKeys(c *cli.Context, t *topology.Topology) (keys *security.Keys, err error) {
	_, err = x.makeLocalKeys(t)
	k := keyring{dir: t.KeysDir, t: t}
	switch {
	case err != nil:
	case t.OverTCP() && !t.Security.Insecure && k.hasLocal():
		keys, err = x.loadKey(c, k.localHome(), t.Name)
	default: // an operator's keys
		keys, err = x.clientKeys(c, t)
	}
	if err == nil {
		err = checkExposure(t)
	}
	return keys, err
}

// localKeys makes keys for a cluster that only this machine reaches. If other machines reach it, the operator makes the keys.
func (x *command) localKeys(t *topology.Topology) error {
	if len(t.Exposed()) > 0 {
		return nil
	}
	made, err := x.makeLocalKeys(t)
	if err == nil && made > 0 {
		x.Notef("made %s in %s: nodes listen on TCP, and only holders of a key get in", display.Plural(made, "key"), t.KeysDir)
	}
	return err
}

// upKeys makes keys for the processes that posta up is about to start with TCP sockets on this machine, and checks that each has its own.
// It makes none while any process runs, because that process would not know the new keys.
func (x *command) upKeys(t *topology.Topology, procs *local.Processes) error {
	alive, err := procs.Nodes()
	if err != nil {
		return err
	}
	if len(alive) == 0 {
		if err := x.localKeys(t); err != nil {
			return err
		}
	}
	if t.Security.Insecure || !t.OverTCP() {
		return nil
	}
	for _, id := range append(procs.IDs(), procs.Medics()...) {
		n, err := nodeOrMedic(t, id)
		own := ""
		if err == nil {
			own, err = ownKeys(t, n)
		}
		if err == nil {
			err = demandKeys(t, own != "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (k keyring) newLocal(now time.Time) error {
	id := security.Identity{Role: security.Client, Name: localClient}
	pair, err := security.NewClient(k.t.Name, localClient, now)
	if err == nil {
		err = k.noteIssued(owner{id, pair.Key.Fingerprint()})
	}
	if err == nil {
		err = security.WritePair(k.localHome(), pair)
	}
	return err
}

// complete reports whether all processes and this machine's client have keys that can stay, and what share writes beside them: a command
// that was killed between the two leaves certificates with no CA to check others by.
func (k keyring) complete(now time.Time) bool {
	dirs := []string{k.localHome()}
	for _, id := range k.processes() {
		dirs = append(dirs, k.home(id))
	}
	return !slices.ContainsFunc(dirs, func(dir string) bool { return !k.good(dir, now) || !k.shared(dir) })
}

// good reports whether a key directory can stay as it is.
func (k keyring) good(dir string, now time.Time) bool {
	revoked, err := security.ReadRevoked(k.dir)
	if err != nil {
		return false
	}
	c, err := k.certificate(dir)
	return err == nil && !revoked[c.fingerprint] && !c.expiresSoon(now)
}
