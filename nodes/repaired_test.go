package nodes_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/nodes"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
)

// hasty calls a function as soon as a line of the log says that the node's log is damaged.
type hasty struct {
	slog.Handler
	told func()
}

func (h hasty) Enabled(context.Context, slog.Level) bool { return true }
func (h hasty) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h hasty) WithGroup(string) slog.Handler            { return h }

func (h hasty) Handle(_ context.Context, r slog.Record) error {
	if r.Level == slog.LevelError && strings.Contains(r.Message, "is damaged") {
		h.told()
	}
	return nil
}

// TestW2_ARepairAtOnceIsNoticed: a damaged log is repaired in the very moment in which the node says that it is damaged. The node opens it
// again.
func TestW2_ARepairAtOnceIsNoticed(t *testing.T) {
	const id = "joiner-1"
	c := start(t, topology.Variant{})
	c.listen(id)("at work", func(b heartbeat.Beat) bool { return b.State == heartbeat.Running })
	c.stopAll()
	clear(c.stops)
	n, err := c.topo.Node(id)
	if err != nil {
		t.Fatal(err)
	}
	head := filepath.Join(n.DataDir, "head")
	text, err := os.ReadFile(head)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{20, 512 + 20} { // both of its slots
		text[at] ^= 1
	}
	if err := os.WriteFile(head, text, 0o600); err != nil {
		t.Fatal(err)
	}
	await := c.listen(id)
	ctx, cancel := context.WithCancel(context.Background())
	ended, repairs := make(chan error, 1), 0
	log := slog.New(hasty{slog.DiscardHandler, func() {
		repairs++
		if _, err := wal.Repair(n.DataDir); err != nil {
			t.Error(err)
		}
	}})
	go func() {
		ended <- nodes.Run(ctx, nodes.Config{Topology: c.topo, Node: id, Known: analyses.Set{bikes.New()}, Version: "test", Log: log})
	}()
	c.stops[id] = func() error { cancel(); return <-ended }
	await("at work again", func(b heartbeat.Beat) bool { return b.State == heartbeat.Running })
	c.stopAll()
	clear(c.stops)
	if repairs != 1 {
		t.Errorf("the log was repaired %d times", repairs)
	}
}
