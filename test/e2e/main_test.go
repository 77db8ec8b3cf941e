package e2e

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/flights"
	"posta.dev/posta/analyses/memes"
	"posta.dev/posta/analyses/movies"
	"posta.dev/posta/link/nats"
	"posta.dev/posta/nodes"
	"posta.dev/posta/topology"
)

const (
	envNode     = "POSTA_E2E_NODE"
	envTopology = "POSTA_E2E_TOPOLOGY"
	envClient   = "POSTA_E2E_CLIENT" // entry points: be a client of them
	envNATS     = "POSTA_E2E_NATS"   // a topology: be its NATS server
	envDir      = "POSTA_E2E_DIR"
	envShared   = "POSTA_SHARED" // a folder with samples/ and expected/; without it generated data is used alone
)

var (
	long = flag.Bool("long", false, "the full lengths that CI runs: several runs of each fault, a minute of standstill")
)

func TestMain(m *testing.M) {
	if node := os.Getenv(envNode); node != "" {
		os.Exit(nodeMain(node, os.Getenv(envTopology)))
	}
	if file := os.Getenv(envNATS); file != "" {
		os.Exit(natsMain(file))
	}
	if entries := os.Getenv(envClient); entries != "" {
		os.Exit(clientMain(entries, os.Getenv(envDir)))
	}
	flag.Parse()
	os.Exit(m.Run())
}

func known() analyses.Set {
	return analyses.Set{bikes.New(), flights.New(), movies.New(), memes.New()}
}

func nodeMain(node, file string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	t, err := topology.Load(file)
	if err == nil {
		log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
		err = nodes.Run(ctx, nodes.Config{Topology: t, Node: topology.NodeID(node), Known: known(), Version: "e2e", Log: log})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func natsMain(file string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	t, err := topology.Load(file)
	if err == nil {
		err = nats.Serve(ctx, t, slog.New(slog.NewTextHandler(os.Stderr, nil)), nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
