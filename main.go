// Command posta runs analyses of large record streams over several processes and hosts, without a broker. This page says what it can
// do; package cmd says how it is asked.
package main

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"

	"posta/analyses"
	"posta/analyses/bikes"
	"posta/cmd"
	"posta/gen"
	"posta/nodes"
	"posta/topology"
)

func main() {
	known := analyses.Set{
		bikes.New(),
	}
	program := cmd.Program{
		Analyses: known,
		Generators: map[string]cmd.Generator{
			"bikes": gen.Bikes,
		},
		RunNode: func(ctx context.Context, t *topology.Topology, node topology.NodeID, log *slog.Logger) error {
			return nodes.Run(ctx, nodes.Config{Topology: t, Node: node, Known: known, Version: version(), Log: log})
		},
		Version: version(),
	}
	os.Exit(cmd.Main(program, os.Args, cmd.Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// release is set by the linker: make build writes what git calls this commit.
var release string

// version is the release, or the commit it was built from.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "commit " + s.Value[:min(len(s.Value), 12)]
		}
	}
	return "development"
}
