package corpus

import (
	"fmt"
	"io/fs"
	"strings"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// Declared returns the tables that a script declares. Their sizes are unknown.
func Declared(text string) (tables []catalog.Table, err error) {
	script, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	for _, s := range script.Statements {
		c, ok := s.Node.(*syntax.CreateTable)
		if !ok {
			continue
		}
		table := catalog.Table{Name: c.Name.Name, Files: c.Files.Value}
		for _, d := range c.Columns {
			typ, _, err := types.Parse(strings.ToUpper(d.Type.Name), d.Type.Args, d.Type.List)
			if err != nil {
				return nil, fmt.Errorf("table %s, column %s: %w", table.Name, d.Name.Name, err)
			}
			table.Columns = append(table.Columns, catalog.Column{Name: d.Name.Name, Type: typ})
		}
		tables = append(tables, table)
	}
	return tables, nil
}

// Answer answers the statement of a plan: nodes do if it reads tables, otherwise this process does, as for a client.
func Answer(p *split.Plan, files fs.FS, o local.Options) (rows [][]any, fields []plan.Field, err error) {
	program, err := p.Bind()
	if err != nil {
		return nil, nil, err
	}
	root := program.Statements[p.Statement].Plan
	if plan.ReadsTables(root) {
		rows, _, err = InPasses(p, files, o)
		return rows, root.Fields(), err
	}
	found, err := operators.New(&operators.Tables{Rows: map[string]*operators.Batch{}}, 64<<20, root).Run(root)
	if err != nil {
		return nil, root.Fields(), err
	}
	return Emitted(found, root.Fields()), root.Fields(), nil
}

// InPasses answers a plan by nodes, pass by pass, and returns the number of passes.
func InPasses(p *split.Plan, files fs.FS, o local.Options) (rows [][]any, passes int, err error) {
	for passes = 1; ; passes++ {
		pass := p.NextPass()
		if pass == nil {
			pass = p
		}
		answers, err := ByNodes(pass, files, o)
		if err != nil {
			return nil, passes, err
		}
		if pass == p {
			return answers[0], passes, nil
		}
		var values []string
		for _, row := range answers[0] {
			values = append(values, fmt.Sprint(row[0]))
		}
		if p, err = p.Answered(pass, values); err != nil {
			return nil, passes, err
		}
	}
}

// ByNodes answers one pass as nodes do: over files, cut into chunks, by joiners and aggregators that may crash.
func ByNodes(p *split.Plan, files fs.FS, o local.Options) (answers [][][]any, err error) {
	a, err := split.Analysis(p)
	if err != nil {
		return nil, err
	}
	if err := a.Check(); err != nil {
		return nil, err
	}
	answer, err := local.Run(a, files, o)
	if err != nil {
		return nil, err
	}
	for _, r := range answer.Rejected {
		if r.Rows > 0 {
			return nil, fmt.Errorf("rejected: %+v", r)
		}
	}
	for _, q := range answer.Queries {
		answers = append(answers, q.Rows)
	}
	return answers, nil
}

// Emitted returns an answer of the tail in the form of a session's answer.
func Emitted(rows *operators.Batch, fields []plan.Field) (out [][]any) {
	for i := range rows.N {
		row := make([]any, len(fields))
		for c, f := range fields {
			if v := rows.Columns[c]; !v.IsNull(int32(i)) {
				row[c] = exec.Cell(v, int32(i), f.Type)
			}
		}
		out = append(out, row)
	}
	return out
}
