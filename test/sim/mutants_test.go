package sim

import (
	"flag"
	"slices"
	"testing"

	"posta.dev/posta/test/simulator/mutants"
)

var (
	update = flag.Bool("update", false, "write the table of mutants into docs/measurements/bugs.md")
	table  = mutants.Table{Package: "./test/sim", Doc: "docs/measurements/bugs.md", Seeds: 3000,
		Mutants: slices.Concat(bugs(), shellBugs(), rewireBugs(), pageBugs(), traceBugs(), longBugs(), spillBugs(), ownerBugs(), resumeBugs(),
			fileBugs(), sqlBugs(), joinBugs(), rareBugs())}
)

func TestMutants(t *testing.T)                { table.Run(t) }
func TestMutants_TextsAreThere(t *testing.T)  { table.TextsAreThere(t) }
func TestMutants_TableInTheDocs(t *testing.T) { table.InTheDocs(t, *update) }
