package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/link/control"
	"posta.dev/posta/link/nats"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
	"posta.dev/posta/zmqx"
)

// Run runs the server of a topology with nats.embedded until ctx ends; nil after that. Where nobody can hear it, as its url names none
// of the hosts, it has no heart.
func Run(ctx context.Context, t *topology.Topology, log *slog.Logger) (err error) {
	n, kept := t.Server()
	if !kept {
		return nats.Serve(ctx, t, log, nil)
	}
	lives, err := wal.Open(n.DataDir, wal.Options{Writer: wal.DirectWriter, SegmentSize: 1 << 20, Logger: log})
	if err != nil {
		return fmt.Errorf("NATS: open its data: %w", err)
	}
	defer func() { err = errors.Join(err, lives.Close()) }()
	socket, err := control.New(control.Config{
		Topology: t, Node: n, Log: log, Options: zmqx.Options{HandshakeTimeout: t.Limits.Handshake, Logger: log},
	})
	if err != nil {
		return fmt.Errorf("NATS: listen on its control socket: %w", err)
	}
	defer func() { err = errors.Join(err, socket.Close()) }()
	h := heart{
		of: n.ID, id: link.Identity{LogID: lives.Identity().LogID, Incarnation: link.Incarnation(lives.Identity().Incarnation)},
		began: time.Now(), say: socket.Heartbeat,
	}
	alive, die := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		h.beat(alive, t.Medics.Heartbeat)
	}()
	defer func() { die(); wg.Wait() }()
	return nats.Serve(ctx, t, log, func() { h.ready.Store(true) })
}

// heart says that the process lives, and whether the server works yet.
type heart struct {
	of    topology.NodeID
	id    link.Identity
	began time.Time
	say   func([]byte)
	ready atomic.Bool
}

func (h *heart) beat(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		b := heartbeat.Beat{Node: h.of, ID: h.id, PID: os.Getpid(), State: heartbeat.Recovering, Uptime: time.Since(h.began)}
		if h.ready.Load() {
			b.State = heartbeat.Running
		}
		h.say(b.Append(nil))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
