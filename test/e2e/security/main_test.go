package security

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"syscall"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/nodes"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

const (
	envNode     = "POSTA_SECURITY_NODE"
	envTopology = "POSTA_SECURITY_TOPOLOGY"
)

func TestMain(m *testing.M) {
	if node := os.Getenv(envNode); node != "" {
		if err := nodeMain(topology.NodeID(node), os.Getenv(envTopology)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// nodeMain is a node's process. Where the topology has keys it uses its own.
func nodeMain(id topology.NodeID, file string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	t, err := topology.Load(file)
	if err != nil {
		return err
	}
	n, err := t.Node(id)
	if err != nil {
		return err
	}
	var keys *security.Keys
	if dir := filepath.Join(t.KeysDir, filepath.FromSlash(n.Identity().String())); !n.Sockets.Control.Unix() {
		if keys, err = security.Load(dir, t.Name, t.TrustedClients()); err != nil {
			return err
		}
	}
	return nodes.Run(ctx, nodes.Config{
		Topology: t, Node: id, Known: analyses.Set{bikes.New()}, Version: "test", Keys: keys,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo})),
	})
}
