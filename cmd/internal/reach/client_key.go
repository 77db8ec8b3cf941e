package reach

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// ClientKeys loads the key of the user of this command for a cluster; nil for a cluster without keys. It decides this without connecting: a
// cluster has keys if its topology lets other machines reach it, or if keys were made for it.
func ClientKeys(x *call.Call, c *cli.Context, t *topology.Topology) (*security.Keys, error) {
	given := c.String(call.FlagKey)
	if !t.OverTCP() {
		return nil, nil
	}
	x.Plain = call.Plain{Entries: EntryPoints(t, false), Cluster: t.Name, Looked: t.KeysDir} // cleared once the cluster is known to have keys
	if t.Security.Insecure {
		return nil, nil
	}
	k := keyring.Of(t)
	made := k.ForProcesses() || k.Has(string(security.Client))
	if given == "" && !made && len(t.Exposed()) == 0 {
		return nil, nil
	}
	x.Plain = call.Plain{}
	if given == "" {
		var err error
		if given, err = k.OwnClient(); err != nil {
			return nil, err
		}
	}
	return LoadKey(x, c, given, t.Name)
}

// MemberKeys returns the keys of a node of this machine, for listening to nodes that this user has started. It returns nil if nodes have no
// keys.
func MemberKeys(t *topology.Topology, n topology.Node) (*security.Keys, error) {
	if t.Security.Insecure || !t.OverTCP() {
		return nil, nil
	}
	dir, err := keyring.OwnKeys(t, n)
	if dir == "" || err != nil {
		return nil, err
	}
	return security.Load(dir, t.Name, nil)
}

// givenKey returns the key for a cluster whose topology is not known; nil without --key. The key says which cluster it is for.
func givenKey(x *call.Call, c *cli.Context) (*security.Keys, error) {
	dir := c.String(call.FlagKey)
	if dir == "" {
		x.Plain = call.Plain{Entries: c.StringSlice(call.FlagEntry)}
		return nil, nil
	}
	cas, err := security.ReadCAs(dir)
	if err != nil {
		return nil, fmt.Errorf("read your key: %w", err)
	}
	return LoadKey(x, c, dir, cas[0].Subject.CommonName)
}

// LoadKey reads a client's key, and warns once when it ends soon.
func LoadKey(x *call.Call, c *cli.Context, dir, cluster string) (*security.Keys, error) {
	keys, err := security.Load(dir, cluster, nil)
	switch {
	case errors.Is(err, security.ErrRevoked), errors.Is(err, security.ErrExpired), errors.Is(err, security.ErrUntrusted),
		errors.Is(err, security.ErrUnsafeFile):
		return nil, exit.Usagef("read your key: %v", err)
	case err != nil:
		return nil, fmt.Errorf("read your key: %w", err)
	}
	if id := keys.Identity(); id.Role != security.Client {
		return nil, exit.Usagef("the key in %s is that of %s, and clients have their own: posta key new NAME --role submit", dir, id)
	}
	WarnOfExpiry(x, c, keys, time.Now())
	return keys, nil
}

// WarnOfExpiry warns once in each command if a key ends soon.
func WarnOfExpiry(x *call.Call, c *cli.Context, keys *security.Keys, now time.Time) {
	const warned = "expiry"
	if end := keys.Expiry(); end.Sub(now) < security.ExpiryWarning && c.App.Metadata[warned] == nil {
		c.App.Metadata[warned] = true
		x.Notef("warning: the %s end on %s: make a new key with posta key new", keys, end.UTC().Format(time.DateOnly))
	}
}

// RoleOf returns the role that the topology gives to a client's keys, "" if none. The nodes may have read another [clients].
func RoleOf(t *topology.Topology, keys *security.Keys) security.Role {
	mine := keys.Fingerprint()
	for _, c := range t.Clients {
		if c.Key == mine {
			return c.Role
		}
	}
	if own, err := keyring.Of(t).LocalKey(); err == nil && own == mine {
		return security.Operate
	}
	return ""
}

// ExplainRefused returns in one short line who does not let a client listen, why, and what the user can do. refused joins the errors of all
// who refuse.
func ExplainRefused(t *topology.Topology, keys *security.Keys, refused error) string {
	all := leaves(refused)
	who, first, _ := strings.Cut(exit.OneLine(all[0]), ": ")
	verb := "refuses"
	if len(all) > 1 {
		who, verb = fmt.Sprintf("%s and %d more nodes and medics", who, len(all)-1), "refuse"
	}
	revoked, _ := security.ReadRevoked(t.KeysDir) // only the operator's machine has it
	role := RoleOf(t, keys)
	why := fmt.Sprintf("it is not in [clients] of %s; ask the operator to write its line there, with the role watch or operate", t.File)
	switch {
	case revoked[keys.Fingerprint()]:
		why = "it is revoked; posta key new makes another one, whose line the operator writes below [clients]"
	case role == security.Submit:
		why = "it has the role submit, and listening needs the role watch or operate in [clients]; posta sessions shows your own sessions"
	case role != "":
		last := first[strings.LastIndex(first, ": ")+1:]
		why = fmt.Sprintf("the topology gives it the role %s, so it was revoked or has ended, or they have not read [clients] since (posta "+
			"up, posta deploy); their logs say which (%s)", role, strings.TrimSpace(last))
	}
	return fmt.Sprintf("%s %s %s: %s", who, verb, keys, why)
}

// leaves returns the errors that were joined.
func leaves(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		all = append(all, leaves(e)...)
	}
	return all
}
