package cmd

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/topology"
)

// render writes what runs without us. Files that are there already are replaced: the same topology writes the same ones.
func (x *command) render(c *cli.Context) error {
	kind := c.String(flagRender)
	dir, err := oneArgument(c, "directory", "--render systemd rendered")
	if err != nil {
		return err
	}
	t, err := readTopology(c)
	if err != nil {
		return err
	}
	text, err := topology.ReadText(t.File)
	if err != nil {
		return err
	}
	var files []topology.File
	switch kind {
	case "systemd":
		files, err = t.Systemd(topology.Systemd{}, string(text))
	case "compose":
		files, err = t.ComposeHosts(topology.Compose{Image: c.String(flagImage), Again: "posta deploy --render compose DIR"}, string(text))
	default:
		return usagef("deploy: --%s systemd or --%[1]s compose, not %q", flagRender, kind)
	}
	if err != nil {
		return usagef("%s: %v", t.File, err)
	}
	for _, f := range files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(f.Name)), f.Text); err != nil {
			return fmt.Errorf("write what the hosts need: %w", err)
		}
		if path.Base(f.Name) == "INSTALL.md" {
			x.notef("what to do on %s: %s", path.Dir(f.Name), filepath.Join(dir, filepath.FromSlash(f.Name)))
		}
	}
	return nil
}

func writeFile(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}
