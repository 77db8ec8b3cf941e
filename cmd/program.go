package cmd

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"

	"posta.dev/posta/analyses/sql/compile"
	"posta.dev/posta/nodes"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// withDefaults fills in what a program leaves out.
func (p Program) withDefaults() Program {
	if p.Version == "" {
		p.Version = builtFrom(debug.ReadBuildInfo())
	}
	if _, err := p.Analyses.Find(compile.Name); err != nil { // every program answers SQL
		p.Analyses = append(slices.Clone(p.Analyses), compile.New())
	}
	if p.RunNode == nil {
		known, version := p.Analyses, p.Version
		p.RunNode = func(ctx context.Context, t *topology.Topology, node topology.NodeID, keys *security.Keys, log *slog.Logger) error {
			return nodes.Run(ctx, nodes.Config{
				Topology: t, Node: node, Known: known, Version: version, Log: log, Keys: keys, Headroom: nodes.DefaultHeadroom, Exit: os.Exit,
			})
		}
	}
	return p
}

// builtFrom returns the version of the build; if there is none, its commit.
func builtFrom(info *debug.BuildInfo, known bool) string {
	if !known {
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
