package medicsim

import (
	"flag"
	"testing"

	"posta.dev/posta/internal/simulator/mutants"
)

var (
	update = flag.Bool("update", false, "write the table of mutants into docs/medics.md")
	table  = mutants.Table{Package: "./test/medicsim", Doc: "docs/medics.md", Mutants: bugs()}
)

var rare = mutants.Table{Package: table.Package, Mutants: rareBugs()}

func TestRareMutants(t *testing.T)               { rare.Run(t) }
func TestRareMutants_TextsAreThere(t *testing.T) { rare.TextsAreThere(t) }

func TestMutants(t *testing.T)                { table.Run(t) }
func TestMutants_TextsAreThere(t *testing.T)  { table.TextsAreThere(t) }
func TestMutants_TableInTheDocs(t *testing.T) { table.InTheDocs(t, *update) }
