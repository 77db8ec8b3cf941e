package topology

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"text/template"
)

// installData is the content of install notes.
type installData struct {
	Cluster, Host, Address string
	Project, Image         string   // compose
	Target, Dir            string   // systemd
	User, Root             string   // of nodes, and of medics in containers
	Keys                   string   // directory on the machine; "" without
	Private                bool     // systemd: the topology has a secret
	Medics                 []string // by unit or service
}

//go:embed compose.md.tmpl
var composeInstallSource string

//go:embed systemd.md.tmpl
var systemdInstallSource string

var (
	composeInstall = newTemplate("compose.md", composeInstallSource)
	systemdInstall = newTemplate("systemd.md", systemdInstallSource)
)

// newTemplate parses a template at its first use. Every process of a cluster contains all templates, and most processes fill none: parsing
// them at the start would take a twentieth of the time that a process needs to start.
func newTemplate(name, text string) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		return template.Must(template.New(name).Funcs(template.FuncMap{"join": strings.Join}).Parse(text))
	})
}

func fill(parsed func() *template.Template, data any) (string, error) {
	t := parsed()
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("write %s: %w", t.Name(), err)
	}
	return b.String(), nil
}
