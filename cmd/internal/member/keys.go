package member

import (
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// FlagKeys names the directory of a process's own keys.
const FlagKeys = "keys"

// KeysFlag names the directory of a process's own keys.
func KeysFlag() cli.Flag {
	return &cli.StringFlag{Name: FlagKeys, EnvVars: []string{plan.EnvKeys},
		Usage: "the `DIR` of the process's own keys: key.pem, cert.pem, ca.pem, revoked. Without this flag it is ROLE/NAME below [security] keys"}
}

// ProcessKeys loads the keys of a node or medic; nil if it needs none (S2). It needs none in three cases: all sockets of its cluster are
// unix sockets; insecure = true; or nobody has made keys and it listens on its own machine alone. In the last case its log has a warning.
func ProcessKeys(c *cli.Context, t *topology.Topology, n topology.Node, log *slog.Logger) (*security.Keys, error) {
	dir, own := c.String(FlagKeys), false
	switch {
	case dir != "" && t.Security.Insecure:
		return nil, exit.Usagef("--%s: %s says insecure = true, and then keys are not used; say only one of the two", FlagKeys, t.File)
	case t.Security.Insecure || !t.OverTCP():
		return nil, nil
	case dir == "":
		var err error
		if dir, err = keyring.OwnKeys(t, n); err != nil {
			return nil, err
		}
		if own = true; dir == "" {
			err := reach.DemandKeys(t, false)
			if err == nil && !n.Sockets.Control.Unix() {
				log.Warn("this process listens on TCP without keys, and whoever reaches its ports can connect; posta up and posta key init make keys",
					"node", n.ID)
			}
			return nil, err
		}
	}
	if err := reach.DemandKeys(t, true); err != nil {
		return nil, err
	}
	clients, err := admitted(t, own, c.String(flagLocalClient))
	var keys *security.Keys
	if err == nil {
		keys, err = security.Load(dir, t.Name, clients)
	}
	if err != nil {
		return nil, fmt.Errorf("read the keys of %s: %w", n.ID, err)
	}
	file, local := c.String(call.FlagTopology), c.String(flagLocalClient)
	keys.ReloadClients(func() (security.Clients, error) {
		now, err := topology.Load(file)
		if err != nil {
			return nil, err
		}
		return admitted(now, own, local)
	})
	if got := keys.Identity(); got != n.Identity() {
		return nil, exit.Usagef("the keys in %s are those of %s, and this is %s: name its own directory with --%s", dir, got, n.Identity(),
			FlagKeys)
	}
	if end := keys.Expiry(); time.Until(end) < security.ExpiryWarning {
		log.Warn("the certificate expires soon: run posta key renew, or bring new keys to this process", "keys", dir, "expires", end)
	}
	return keys, nil
}

// admitted returns the clients that a process admits: those of [clients], and this machine's client. given is the key of this machine's
// client, if a flag named it. If own is true, the key is read from the place where the process found its own keys.
func admitted(t *topology.Topology, own bool, given string) (clients security.Clients, err error) {
	clients = t.TrustedClients()
	local := security.Fingerprint(given)
	switch {
	case given != "":
		local, err = security.ParseFingerprint(given)
	case own:
		local, err = keyring.Of(t).LocalKey()
	}
	if err != nil {
		return nil, err
	}
	if local != "" {
		clients[local] = security.Identity{Role: security.Operate, Name: keyring.LocalClient}
	}
	return clients, nil
}

// ReloadKeys reads the keys and the topology's [clients] again at each SIGHUP until stop is called. The signal is sent after a revocation,
// after certificates were made again, and when a client was added or removed. Peers that are refused from then on are disconnected. If
// something cannot be read, only revocations take effect. A process without keys does not handle the signal.
func ReloadKeys(got chan os.Signal, keys *security.Keys, log *slog.Logger) (stop func()) {
	if keys == nil {
		signal.Stop(got)
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range got {
			if err := keys.Reload(); err != nil {
				log.Error("not everything could be read again: correct the file and send SIGHUP again; revocations are in force", "err", err)
				continue
			}
			log.Info("the keys and [clients] were read again", "expires", keys.Expiry())
		}
	}()
	return func() {
		signal.Stop(got)
		close(got)
		<-done
	}
}

// Hangups catches SIGHUP before a process reads its keys. Otherwise a revocation that comes while it starts would end it, or, between the
// reading and the catching, would be missed.
func Hangups() chan os.Signal {
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGHUP)
	return got
}

const flagLocalClient = "local-client"

// LocalClientFlag is for processes in containers, which do not see the user's directory of keys. The flag holds a public key, which is not
// a secret.
func LocalClientFlag() cli.Flag {
	return &cli.StringFlag{Name: flagLocalClient, Hidden: true,
		Usage: "let the client with this public `KEY` in, as posta topology compose has it"}
}
