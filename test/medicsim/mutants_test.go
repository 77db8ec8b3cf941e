package medicsim

import (
	"flag"
	"testing"

	"posta.dev/posta/test/simulator/mutants"
)

var (
	update = flag.Bool("update", false, "write the table of mutants into docs/measurements/medic-bugs.md")
	table  = mutants.Table{Package: "./test/medicsim", Doc: "docs/measurements/medic-bugs.md", Seeds: 20_000,
		Mutants: append(bugs(), rareBugs()...)}
)

func TestMutants(t *testing.T)                { table.Run(t) }
func TestMutants_TextsAreThere(t *testing.T)  { table.TextsAreThere(t) }
func TestMutants_TableInTheDocs(t *testing.T) { table.InTheDocs(t, *update) }
