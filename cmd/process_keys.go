package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

const flagKeys = "keys"

func keysFlag() cli.Flag {
	return &cli.StringFlag{Name: flagKeys, EnvVars: []string{plan.EnvKeys}, Usage: "the process's own keys are in `DIR` (key.pem, cert.pem, ca.pem, revoked); without it in ROLE/NAME below [security] keys"}
}

// processKeys loads the keys of a node or medic; nil for one that needs none (S2): all sockets of its cluster are unix sockets, or nobody made keys
// and it listens on its own machine alone, or insecure = true does without.
func processKeys(c *cli.Context, t *topology.Topology, n topology.Node, log *slog.Logger) (*security.Keys, error) {
	dir := c.String(flagKeys)
	switch {
	case dir != "" && t.Security.Insecure:
		return nil, usagef("--%s: %s says insecure = true, and then keys are not used; say only one of the two", flagKeys, t.File)
	case t.Security.Insecure || !t.OverTCP():
		return nil, nil
	case dir == "":
		own, err := ownKeys(t, n)
		if own == "" || err != nil {
			return nil, err
		}
		dir = own
	}
	keys, err := security.Load(dir, t.Name, t.TrustedClients())
	if err != nil {
		return nil, fmt.Errorf("read the keys of %s: %w", n.ID, err)
	}
	if got := keys.Identity(); got != n.Identity() {
		return nil, usagef("the keys in %s are those of %s, and this is %s: name its own directory with --%s", dir, got, n.Identity(), flagKeys)
	}
	if end := keys.Expiry(); time.Until(end) < security.ExpiryWarning {
		log.Warn("the certificate expires soon: say posta key init, and bring the keys to this process", "keys", dir, "expires", end)
	}
	return keys, nil
}

// ownKeys is where the keys of a node or medic are unless it is told; "" if there are none for anybody. A process that lacks its keys in a cluster that has some
// does not start: nobody would talk to it.
func ownKeys(t *topology.Topology, n topology.Node) (string, error) {
	dir := filepath.Join(t.KeysDir, filepath.FromSlash(n.Identity().String()))
	_, err := os.Lstat(dir)
	if err == nil {
		return dir, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for the keys of %s: %w", n.ID, err)
	}
	if slices.ContainsFunc([]string{caDir, string(security.Node), string(security.Medic)}, keyring{dir: t.KeysDir, t: t}.has) {
		return "", usagef("%s has no keys in %s, and others of cluster %s have: make them with `posta key init -f %s`", n.ID, t.KeysDir, t.Name, t.File)
	}
	return "", nil
}

// reloadKeys reads the keys again at each SIGHUP until stop: after a revocation, or when certificates were made anew. Peers that are refused from
// then on are disconnected. What cannot be read changes nothing but what is revoked. A process without keys leaves the signal as it is.
func reloadKeys(keys *security.Keys, log *slog.Logger) (stop func()) {
	if keys == nil {
		return func() {}
	}
	got, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(got, syscall.SIGHUP)
	go func() {
		defer close(done)
		for range got {
			if err := keys.Reload(); err != nil {
				log.Error("the keys are not read again but for what is revoked: mend the file and send SIGHUP again", "err", err)
				continue
			}
			log.Info("the keys were read again", "expires", keys.Expiry())
		}
	}()
	return func() {
		signal.Stop(got)
		close(got)
		<-done
	}
}
