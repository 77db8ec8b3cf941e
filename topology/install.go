package topology

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

// installData is what install notes tell.
type installData struct {
	Cluster, Host, Address string
	Project, Image         string   // compose
	Target, Dir            string   // systemd
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

func newTemplate(name, text string) *template.Template {
	return template.Must(template.New(name).Funcs(template.FuncMap{"join": strings.Join}).Parse(text))
}

func fill(t *template.Template, data any) (string, error) {
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("write %s: %w", t.Name(), err)
	}
	return b.String(), nil
}
