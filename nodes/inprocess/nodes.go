// Package inprocess runs nodes in goroutines of the process that asks them.
//
//	Chain    one node, which holds all roles: without sockets, and with its log in memory
//	Cluster  several nodes on unix sockets in a directory of this user alone, with their logs in files
//
// They run the same code as nodes that are processes. A node that ends with an error is started again on its log. No log is synced: whoever
// kills this process kills the question with it, and the system keeps what was written when a node alone ends.
package inprocess

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/cgroup"
	"posta.dev/posta/nodes"
	"posta.dev/posta/topology"
	"posta.dev/posta/topology/rundir"
	"posta.dev/posta/wal"
	"posta.dev/posta/wal/memory"
)

// Config says what the nodes are for.
type Config struct {
	Known analyses.Set

	// Dirs and Files are where the data is. The nodes read files there themselves (S8).
	Dirs, Files []string

	// Disk takes the place of the file system under the logs; nil means the product's. It is for tests.
	Disk wal.FS
}

// Nodes are running nodes. Several goroutines may ask them.
type Nodes struct {
	topology *topology.Topology
	dir      *rundir.RunDir // nil without sockets
	memory   *memory.Disk   // nil if the logs are in files
	direct   *nodes.Direct  // nil with sockets
	disks    []*watchedDisk // of the nodes
	ctx      context.Context
	end      context.CancelCauseFunc // ends ctx and the nodes; the cause says why
	running  sync.WaitGroup
}

const (
	// mostStarts is how often a node is started within startsWithin before all are given up. A node that comes back has its log, so the same
	// fault is likely to end it again.
	mostStarts   = 5
	startsWithin = time.Minute

	// logInMemory is how many bytes of its log a chain keeps in memory. The log of a question over 64 MiB is a few MiB, unless most groups
	// are different. What has no room there is in a temporary file.
	logInMemory = 64 << 20
	// logPart is which part of what a control group allows this process the log may take in memory.
	logPart = 16
)

// Cluster starts several nodes. They are ready within milliseconds; clients repeat what they ask until then.
func Cluster(cfg Config) (h *Nodes, err error) {
	v := topology.Variant{JoinInInput: true, Settings: map[string]string{}}
	rundir.Own(v.Settings)
	if v.Roots, err = rundir.Roots(cfg.Dirs, cfg.Files); err != nil {
		return nil, err
	}
	h = &Nodes{}
	if h.dir, err = rundir.NewRunDir(rundir.RunDirConfig{Variant: v}); err != nil {
		return nil, fmt.Errorf("start nodes within this process: %w", err)
	}
	h.topology = h.dir.Topology
	if cfg.Disk == nil {
		cfg.Disk = wal.Unsynced
	}
	h.start(&cfg)
	return h, nil
}

// tight is the least limit of a control group with which several processes share the work: with less, what each of them needs for itself
// leaves too little for the data.
const tight = 768 << 20

// UpTo returns up to how many bytes of data one node answers: the given ones, or, where a control group leaves little memory, any number.
func UpTo(bytes int64) int64 {
	if limit, _ := cgroup.Memory(); limit > 0 && limit < tight && bytes > 0 {
		return math.MaxInt64
	}
	return bytes
}

// Chain starts one node that holds all roles. It answers questions over small data soonest: nothing between its roles is encoded, and
// nothing is written to a disk unless its log outgrows memory.
func Chain(cfg Config) (h *Nodes, err error) {
	roots, err := rundir.Roots(cfg.Dirs, cfg.Files)
	if err != nil {
		return nil, err
	}
	h = &Nodes{direct: nodes.NewDirect()}
	if h.topology, err = topology.OneNode(roots); err != nil {
		return nil, fmt.Errorf("start a node within this process: %w", err)
	}
	if cfg.Disk == nil {
		log := int64(logInMemory)
		if limit, _ := cgroup.Memory(); limit > 0 {
			log = min(log, limit/logPart)
		}
		h.memory = memory.New(log, "")
		cfg.Disk = h.memory
	}
	h.start(&cfg)
	return h, nil
}

func (h *Nodes) start(cfg *Config) {
	h.ctx, h.end = context.WithCancelCause(context.Background())
	for _, n := range h.topology.Nodes() {
		disk := &watchedDisk{FS: cfg.Disk}
		h.disks = append(h.disks, disk)
		h.running.Go(func() { h.keep(n.ID, cfg.Known, disk) })
	}
}

// keep runs a node, again and again if it has to be, until the nodes end.
func (h *Nodes) keep(id topology.NodeID, known analyses.Set, disk wal.FS) {
	var starts []time.Time
	for h.ctx.Err() == nil {
		now := time.Now()
		starts = append(starts, now)
		for now.Sub(starts[0]) > startsWithin {
			starts = starts[1:]
		}
		err := nodes.Run(h.ctx, nodes.Config{Topology: h.topology, Node: id, Known: known, Version: "in process", Disk: disk, Direct: h.direct})
		if err != nil && len(starts) >= mostStarts {
			h.end(fmt.Errorf("node %s has ended %d times: %w; close them, and start other ones", id, len(starts), err))
		}
	}
}

// Entries returns the endpoints of the nodes that clients ask first.
func (h *Nodes) Entries() []string { return h.topology.EntryPoints() }

// Ask returns what takes the place of sockets (client.Config.Ask); nil if the nodes have sockets.
func (h *Nodes) Ask() func(ctx context.Context, request []byte) ([]byte, error) {
	if h.direct == nil {
		return nil
	}
	return h.direct.Ask
}

// During returns a context for a question, which ends with ctx, when the nodes end, and when their disk stays full (ErrNoRoom). done has to
// be called after its last use.
func (h *Nodes) During(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(h.ctx, func() { cancel(context.Cause(h.ctx)) })
	ctx, roomless := h.whileRoom(ctx)
	return ctx, func() {
		stop()
		roomless()
		cancel(nil)
	}
}

// Ended reports whether the nodes have ended by themselves. Then they have to be closed, and answer nothing any more.
func (h *Nodes) Ended() bool { return h.ctx.Err() != nil }

// Close ends the nodes, for the given reason, and removes what they have written.
func (h *Nodes) Close(why error) error {
	if h == nil {
		return nil
	}
	failed := context.Cause(h.ctx) // nil unless the nodes have ended by themselves
	h.end(why)
	h.running.Wait()
	errs := []error{failed}
	if h.memory != nil {
		errs = append(errs, h.memory.Close())
	}
	if h.dir != nil {
		errs = append(errs, h.dir.Close(true))
	}
	return errors.Join(errs...)
}
