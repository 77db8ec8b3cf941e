package topology

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

// noteData is what install notes tell.
type noteData struct {
	Cluster, Host, Address string
	Project, Image         string   // compose
	Target, Dir            string   // systemd
	Medics                 []string // by unit or service
}

//go:embed compose.md.tmpl
var composeNoteSource string

//go:embed systemd.md.tmpl
var systemdNoteSource string

var (
	composeNote = newTemplate("compose.md", composeNoteSource)
	systemdNote = newTemplate("systemd.md", systemdNoteSource)
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
