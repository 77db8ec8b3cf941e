// Command wordcount is posta with an analysis of its own; docs/adding-an-analysis.md tells how it came about.
package main

import (
	"posta.dev/posta/analyses"
	"posta.dev/posta/cmd"
)

func main() { cmd.Main(cmd.Program{Analyses: analyses.Set{wordcount()}}) }
