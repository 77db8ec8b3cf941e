package bench

import (
	"context"
	_ "embed"

	"posta.dev/posta/internal/gen"
)

//go:embed h2o.sql
var h2o string

// h2oRows is the default number of rows: the smallest data of the benchmark.
const h2oRows = 10_000_000

// measureH2O measures the ten group-by questions of db-benchmark.
func measureH2O(ctx context.Context, c *Config) (done Section, err error) {
	all, err := numbered(h2o, c.declare("h2o"))
	if err != nil {
		return done, err
	}
	return c.ask(ctx, "the group-by questions of db-benchmark over %d rows as "+c.Format,
		dataset{"h2o", c.Format, c.factsOr(h2oRows), gen.H2O}, all)
}
