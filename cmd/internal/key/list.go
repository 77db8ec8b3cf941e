package key

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"posta.dev/posta/internal/units"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/security"
)

// KeyView is a key as posta key list shows it.
type KeyView struct {
	Role    string               `json:"role"` // ca, node, medic, submit, watch or operate; client for a key without a line in the topology
	Name    string               `json:"name"`
	Key     security.Fingerprint `json:"key,omitempty"`
	Expires *time.Time           `json:"expires,omitempty"` // not known if the client's directory is elsewhere
	Note    string               `json:"note,omitempty"`    // what is wrong with it
	Soon    bool
}

// list is posta key list.
type list struct {
	*call.Call
	json bool
}

func listCommand(base *call.Call) *cli.Command {
	x := &list{Call: base}
	return &cli.Command{
		Name: "list", Usage: "list all keys: whose they are, until when they are valid, and which are revoked",
		Description: "Warns about certificates that expire within 30 days.\n\n" + exit.Help,
		Flags:       []cli.Flag{call.TopologyFlag(), call.JSONFlag(&x.json)}, Action: withRing(x.run),
	}
}

func (x *list) run(c *cli.Context, k keyring.Ring) error {
	if err := k.IsThere(); err != nil {
		return fmt.Errorf("key list: %w", err)
	}
	all, err := ListKeys(k, time.Now())
	if err != nil {
		return fmt.Errorf("key list: %w", err)
	}
	if x.json {
		if err := x.PrintJSON(all); err != nil {
			return err
		}
	} else {
		table := display.Table{Head: []string{"role", "name", "key", "expires", "note"}}
		for _, v := range all {
			expires := ""
			if v.Expires != nil {
				expires = v.Expires.Format(time.DateOnly)
			}
			table.Rows = append(table.Rows, []string{v.Role, v.Name, string(v.Key), expires, v.Note})
		}
		table.Print(x.Out, "")
	}
	for _, v := range all {
		if v.Soon {
			x.Notef("warning: the certificate of %s %s %s; %s", v.Role, v.Name, v.Note, v.advice())
		}
	}
	return nil
}

func (v KeyView) advice() string {
	switch v.Role {
	case roleCA:
		return "replace it with posta key init --" + flagRotateCA
	case string(security.Node), string(security.Medic):
		return "posta key init makes another one"
	}
	return "posta key new makes another one, under another name"
}

// ListKeys returns the CAs, all processes, and all clients.
func ListKeys(k keyring.Ring, now time.Time) (all []KeyView, err error) {
	revoked, err := security.ReadRevoked(k.Dir)
	if err != nil {
		return nil, err
	}
	add := func(role, name, dir, missing string) {
		v := KeyView{Role: role, Name: name}
		has, err := k.Certificate(dir)
		if has.Certificate != nil {
			v.describe(has, revoked, now)
		}
		switch {
		case err == nil:
		case errors.Is(err, keyring.ErrAbsent), has.Certificate == nil && errors.Is(err, fs.ErrNotExist):
			v.Note = missing
		case role == roleCA && errors.Is(err, fs.ErrNotExist):
			v.Note = strings.TrimPrefix(v.Note+"; its key is elsewhere", "; ")
		case v.Note != noteRevoked:
			v.Note = "broken: " + err.Error()
		}
		all = append(all, v)
	}
	for _, ca := range []string{keyring.CADir, keyring.NextCADir, keyring.FormerCADir} {
		if k.Has(ca) {
			add(roleCA, ca, k.At(ca), "has no certificate: bring "+k.At(ca)+" back from where you keep it")
		}
	}
	present := map[security.Identity]bool{}
	for _, id := range k.Processes() {
		present[id] = true
		add(string(id.Role), id.Name, k.Home(id), "has no key: posta key init")
	}
	for _, client := range k.Topology.Clients {
		id := security.Identity{Role: security.Client, Name: client.Name}
		present[id] = true
		v := KeyView{Role: string(client.Role), Name: client.Name, Key: client.Key}
		if revoked[client.Key] {
			v.Note = noteRevoked
		}
		if has, err := k.Certificate(k.Home(id)); err == nil && has.Fingerprint == client.Key {
			v.describe(has, revoked, now)
		}
		all = append(all, v)
	}
	made, err := k.Made()
	if err != nil {
		return nil, err
	}
	for _, id := range made {
		if present[id] {
			continue
		}
		// posta up has made this client, and lets it in without a line of [clients]
		if id.Name == keyring.LocalClient && id.Role == security.Client {
			add(string(security.Operate), id.Name, k.Home(id), "")
			continue
		}
		add(string(id.Role), id.Name, k.Home(id), "")
		if v := &all[len(all)-1]; v.Note == "" {
			v.Note = "not in the topology"
		}
	}
	return all, nil
}

const (
	noteRevoked = "revoked"
	roleCA      = "ca"
)

// describe fills in what the certificate says.
func (v *KeyView) describe(c keyring.Certificate, revoked map[security.Fingerprint]bool, now time.Time) {
	end := c.NotAfter
	v.Key, v.Expires = c.Fingerprint, &end
	switch {
	case revoked[c.Fingerprint]:
		v.Note = noteRevoked
	case end.Before(now):
		v.Note, v.Soon = "has expired", true
	case c.ExpiresSoon(now):
		v.Note, v.Soon = fmt.Sprintf("expires in %s", units.Plural(int(end.Sub(now).Hours()/24), "day")), true
	}
}
