package cmd

import (
	"context"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/nodes"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Program describes what the command can do.
type Program struct {
	Analyses   analyses.Set
	Generators map[string]Generator // by analysis, or by the kind of data
	RunNode    NodeRunner           // nil means the nodes of package nodes
	Version    string               // "" means the version that the program was built from
	More       []*cli.Command       // further commands, beside those that every program has
}

// Generator makes data for an analysis.
type Generator = func(dir gen.Dir, rows int, seed uint64) error

// NodeRunner runs a node until ctx ends, and then drains it and returns nil. keys are the node's own; nil if the node speaks plain ZMTP.
type NodeRunner = func(ctx context.Context, t *topology.Topology, node topology.NodeID, keys *security.Keys, log *slog.Logger) error

// Console is where a command reads and writes. It recognises terminals if they are *os.File.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
}

// withDefaults fills in what a program leaves out.
func (p Program) withDefaults() Program {
	if p.Version == "" {
		p.Version = builtFrom(debug.ReadBuildInfo())
	}
	if _, err := p.Analyses.Find(split.Name); err != nil { // every program answers SQL
		p.Analyses = append(slices.Clone(p.Analyses), split.New())
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
