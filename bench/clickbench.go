package bench

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"posta.dev/posta/internal/gen"
)

//go:embed clickbench.sql
var clickbench string

// hitRows is the default number of rows. The original has 100 million.
const hitRows = 1_000_000

// measureClickBench measures the 43 statements of ClickBench.
func measureClickBench(ctx context.Context, c *Config) (done Section, err error) {
	all, err := c.clickBench()
	if err != nil {
		return done, err
	}
	return c.ask(ctx, "the statements of ClickBench over %d rows of hits as "+c.Format,
		dataset{"hits", c.Format, c.factsOr(hitRows), gen.Hits}, all)
}

// clickBench returns the statements. Their names are their numbers, from 1 on.
func (c *Config) clickBench() (all []statement, err error) {
	tables := c.declare("hits")
	for line := range strings.Lines(clickbench) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "--") {
			continue
		}
		s, err := newStatement(fmt.Sprint(len(all)+1), line, tables)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
