package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/security"
)

// keyView is a key as posta key list shows it.
type keyView struct {
	Role    string               `json:"role"` // ca, node, medic, submit, watch or operate; client for a key without a line in the topology
	Name    string               `json:"name"`
	Key     security.Fingerprint `json:"key,omitempty"`
	Expires *time.Time           `json:"expires,omitempty"` // not known if the client's directory is elsewhere
	Note    string               `json:"note,omitempty"`    // what is wrong with it
	soon    bool
}

func (x *command) keyList(c *cli.Context, k keyring) error {
	if err := k.isThere(); err != nil {
		return fmt.Errorf("key list: %w", err)
	}
	all, err := k.list(time.Now())
	if err != nil {
		return fmt.Errorf("key list: %w", err)
	}
	if c.Bool(call.FlagJSON) {
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
		if v.soon {
			x.Notef("warning: the certificate of %s %s %s; %s", v.Role, v.Name, v.Note, v.advice())
		}
	}
	return nil
}

func (v keyView) advice() string {
	switch v.Role {
	case roleCA:
		return "replace it with posta key init --" + flagRotateCA
	case string(security.Node), string(security.Medic):
		return "posta key init makes another one"
	}
	return "posta key new makes another one, under another name"
}

// list returns the CAs, all processes, and all clients.
func (k keyring) list(now time.Time) (all []keyView, err error) {
	revoked, err := security.ReadRevoked(k.dir)
	if err != nil {
		return nil, err
	}
	add := func(role, name, dir, missing string) {
		v := keyView{Role: role, Name: name}
		has, err := k.certificate(dir)
		if has.Certificate != nil {
			v.describe(has, revoked, now)
		}
		switch {
		case err == nil:
		case errors.Is(err, errAbsent), has.Certificate == nil && errors.Is(err, fs.ErrNotExist):
			v.Note = missing
		case role == roleCA && errors.Is(err, fs.ErrNotExist):
			v.Note = strings.TrimPrefix(v.Note+"; its key is elsewhere", "; ")
		case v.Note != noteRevoked:
			v.Note = "broken: " + err.Error()
		}
		all = append(all, v)
	}
	for _, ca := range []string{caDir, nextCADir, formerCADir} {
		if k.has(ca) {
			add(roleCA, ca, k.at(ca), "has no certificate: bring "+k.at(ca)+" back from where you keep it")
		}
	}
	present := map[security.Identity]bool{}
	for _, id := range k.processes() {
		present[id] = true
		add(string(id.Role), id.Name, k.home(id), "has no key: posta key init")
	}
	for _, client := range k.t.Clients {
		id := security.Identity{Role: security.Client, Name: client.Name}
		present[id] = true
		v := keyView{Role: string(client.Role), Name: client.Name, Key: client.Key}
		if revoked[client.Key] {
			v.Note = noteRevoked
		}
		if has, err := k.certificate(k.home(id)); err == nil && has.fingerprint == client.Key {
			v.describe(has, revoked, now)
		}
		all = append(all, v)
	}
	made, err := k.made()
	if err != nil {
		return nil, err
	}
	for _, id := range made {
		if present[id] {
			continue
		}
		if id.Name == localClient && id.Role == security.Client { // posta up has made this client, and lets it in without a line of [clients]
			add(string(security.Operate), id.Name, k.home(id), "")
			continue
		}
		add(string(id.Role), id.Name, k.home(id), "")
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
func (v *keyView) describe(c certificate, revoked map[security.Fingerprint]bool, now time.Time) {
	end := c.NotAfter
	v.Key, v.Expires = c.fingerprint, &end
	switch {
	case revoked[c.fingerprint]:
		v.Note = noteRevoked
	case end.Before(now):
		v.Note, v.soon = "has expired", true
	case c.expiresSoon(now):
		v.Note, v.soon = fmt.Sprintf("expires in %s", display.Plural(int(end.Sub(now).Hours()/24), "day")), true
	}
}
