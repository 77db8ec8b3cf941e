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

// clickBench returns the statements.
func (c *Config) clickBench() ([]statement, error) { return numbered(clickbench, c.declare("hits")) }

// numbered returns the statements of a text with one in each line. Their names are their numbers, from 1 on.
func numbered(text string, tables declarations) (all []statement, err error) {
	for line := range strings.Lines(text) {
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
