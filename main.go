// Command posta runs analyses of large record streams over several processes and hosts, without a broker. This page says
// what it can do; package cmd says how it is asked.
package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/flights"
	"posta.dev/posta/analyses/memes"
	"posta.dev/posta/analyses/movies"
	"posta.dev/posta/bench"
	"posta.dev/posta/bench/command"
	"posta.dev/posta/cmd"
	"posta.dev/posta/internal/gen"
)

// release is set by the linker: make build writes what git calls this commit.
var release string

func main() {
	if child, ok := command.Child(os.Args); ok {
		os.Exit(bench.Child(child))
	}
	cmd.Main(cmd.Program{
		Analyses: analyses.Set{bikes.New(), flights.New(), movies.New(), memes.New()},
		Generators: map[string]cmd.Generator{
			"bikes": gen.Bikes, "flights": gen.Flights, "movies": gen.Movies, "memes": gen.Memes, "measurements": gen.Measurements,
			"tpch": gen.TPCH, "hits": gen.Hits, "h2o": gen.H2O,
		},
		Version: release,
		More:    []*cli.Command{command.New()},
	})
}
