package about

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
)

// lister is posta analyses.
type lister struct {
	*call.Call
	json bool
}

// AnalysesCommand returns posta analyses.
func AnalysesCommand(base *call.Call) *cli.Command {
	x := &lister{Call: base}
	return &cli.Command{
		Name:        "analyses",
		Usage:       "list the analyses, their files, parameters and queries",
		Description: exit.Help,
		Flags:       []cli.Flag{call.JSONFlag(&x.json)}, Action: x.run,
	}
}

func (x *lister) run(*cli.Context) error {
	if x.json {
		return x.printAnalysesJSON()
	}
	for i, a := range x.Analyses.BuiltIn() {
		if i > 0 {
			x.Printf("\n")
		}
		x.printAnalysis(a)
	}
	return nil
}

func (x *lister) printAnalysis(a *analyses.Analysis) {
	x.Printf("%s: %s\n", a.Name, a.About)
	streams := display.Table{Head: []string{"stream", "kind", "files", "columns"}, Most: 200}
	for _, s := range a.Streams {
		kind := "facts"
		if s.Reference {
			kind = "reference"
		}
		var columns []string
		for _, col := range s.Columns {
			columns = append(columns, col.Name)
		}
		streams.Rows = append(streams.Rows, []string{s.Name, kind, "DIR/" + s.Files, strings.Join(columns, ", ")})
	}
	params := display.Table{Head: []string{"parameter", "default", "what it does"}, Most: 200}
	for _, p := range a.Params {
		params.Rows = append(params.Rows, []string{p.Name, p.Default, p.About})
	}
	queries := display.Table{Head: []string{"query", "columns of its answer"}, Most: 200}
	for _, q := range a.Queries {
		queries.Rows = append(queries.Rows, []string{q.Name, strings.Join(q.Columns, ", ") + fetched(q)})
	}
	for _, t := range []*display.Table{&streams, &params, &queries} {
		x.Printf("\n")
		t.Print(x.Out, "  ")
	}
}

// fetched describes the column whose files --download fetches.
func fetched(q analyses.Query) string {
	if q.Download == "" {
		return ""
	}
	return fmt.Sprintf("; --download saves what %s points to", q.Download)
}

func (x *lister) printAnalysesJSON() error {
	type column struct {
		Name     string `json:"name"`
		Optional bool   `json:"optional,omitempty"`
	}
	type stream struct {
		Name      string   `json:"name"`
		Reference bool     `json:"reference"`
		Files     string   `json:"files"`
		Columns   []column `json:"columns"`
	}
	type param struct {
		Name    string `json:"name"`
		Default string `json:"default"`
		About   string `json:"about"`
	}
	type query struct {
		Name     string   `json:"name"`
		Columns  []string `json:"columns"`
		Download string   `json:"download,omitempty"`
	}
	type analysis struct {
		Name    string   `json:"name"`
		About   string   `json:"about"`
		Streams []stream `json:"streams"`
		Params  []param  `json:"params"`
		Queries []query  `json:"queries"`
	}
	all := make([]analysis, len(x.Analyses.BuiltIn()))
	for i, a := range x.Analyses.BuiltIn() {
		out := analysis{Name: a.Name, About: a.About, Params: []param{}}
		for _, s := range a.Streams {
			view := stream{Name: s.Name, Reference: s.Reference, Files: s.Files, Columns: []column{}}
			for _, col := range s.Columns {
				view.Columns = append(view.Columns, column{col.Name, col.Optional})
			}
			out.Streams = append(out.Streams, view)
		}
		for _, p := range a.Params {
			out.Params = append(out.Params, param{p.Name, p.Default, p.About})
		}
		for _, q := range a.Queries {
			out.Queries = append(out.Queries, query{q.Name, q.Columns, q.Download})
		}
		all[i] = out
	}
	return x.PrintJSON(map[string]any{"analyses": all})
}
