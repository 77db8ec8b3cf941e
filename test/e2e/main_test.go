package e2e

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/flights"
	"posta.dev/posta/analyses/memes"
	"posta.dev/posta/analyses/movies"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/nodes"
	"posta.dev/posta/test/natstest"
	"posta.dev/posta/topology"
)

const (
	envNode     = "POSTA_E2E_NODE"
	envTopology = "POSTA_E2E_TOPOLOGY"
	envClient   = "POSTA_E2E_CLIENT" // entry points: the process is a client of them
	envDir      = "POSTA_E2E_DIR"
	envFiles    = "POSTA_E2E_FILES" // how many file descriptors a node may have
	envShared   = "POSTA_SHARED"    // a folder with samples/ and expected/; without it tests use generated data only
)

var (
	long = flag.Bool("long", false, "the full lengths that make nightly runs: several runs of each fault, a minute of standstill")
)

func TestMain(m *testing.M) {
	if node := os.Getenv(envNode); node != "" {
		if most, err := strconv.ParseUint(os.Getenv(envFiles), 10, 64); err == nil {
			if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(nodeMain(node, os.Getenv(envTopology)))
	}
	if entries := os.Getenv(envClient); entries != "" {
		os.Exit(clientMain(entries, os.Getenv(envDir)))
	}
	if spec := os.Getenv(envMortal); spec != "" {
		os.Exit(mortalMain(spec))
	}
	flag.Parse()
	code := m.Run()
	natstest.Remove()
	os.Exit(code)
}

func known() analyses.Set {
	return analyses.Set{bikes.New(), flights.New(), movies.New(), memes.New(), split.New()}
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
