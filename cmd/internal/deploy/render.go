package deploy

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// render writes files for hosts that are set up without posta deploy. It replaces existing files: a topology always gives the same files.
func (x *command) render(c *cli.Context) error {
	kind := x.kind
	dir, err := call.OneArgument(c, "directory", "--render systemd rendered")
	if err != nil {
		return err
	}
	t, err := reach.ReadTopology(c)
	if err != nil {
		return err
	}
	text, err := topology.ReadText(t.File)
	if err != nil {
		return err
	}
	keys, err := UnitKeys(t, "")
	if err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	var files []topology.File
	at := topology.ComposeKeys // path of the keys of a node or medic, below its host's directory
	switch kind {
	case "systemd":
		at = t.SystemdKeys
		files, err = t.Systemd(topology.Systemd{Keys: keys != nil}, string(text))
	case "compose":
		files, err = t.ComposeHosts(topology.Compose{Image: x.image, Again: "posta deploy --render compose DIR", Keys: keys != nil},
			string(text))
	default:
		return exit.Usagef("deploy: --%s systemd or --%[1]s compose, not %q", call.FlagRender, kind)
	}
	if err != nil {
		return exit.Usagef("%s: %v", t.File, err)
	}
	for _, f := range files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(f.Name)), f); err != nil {
			return fmt.Errorf("write the files for the hosts: %w", err)
		}
		if path.Base(f.Name) == "INSTALL.md" {
			x.Notef("what to do on %s: %s", path.Dir(f.Name), filepath.Join(dir, filepath.FromSlash(f.Name)))
		}
	}
	return renderKeys(dir, t, keys, at)
}

// renderKeys writes the key directories of all nodes and medics into the directories of their hosts.
func renderKeys(dir string, t *topology.Topology, keys map[string]security.Bundle, at func(topology.Node) string) error {
	if keys == nil {
		return nil
	}
	for _, n := range t.All() {
		to := filepath.Join(dir, n.Host, filepath.FromSlash(at(n)))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { // other users of the target machine have to be able to enter this directory
			return fmt.Errorf("write the files for the hosts: %w", err)
		}
		var archive bytes.Buffer
		_, err := keys[string(n.ID)].WriteTo(&archive)
		if err == nil {
			err = security.Install(to, &archive)
		}
		if err != nil {
			return fmt.Errorf("write the files for the hosts: %w", err)
		}
	}
	return nil
}

func writeFile(name string, f topology.File) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if f.Private {
		return owned.Write(name, f.Text, false) // this also replaces a file that others could read
	}
	return os.WriteFile(name, []byte(f.Text), 0o644)
}
