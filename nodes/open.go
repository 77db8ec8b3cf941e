package nodes

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/chain"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/rows/progress"
	"posta.dev/posta/wal"
)

// openRetry is the pause before a node that lacked disk space or file descriptors tries to open its log again.
const openRetry = time.Second

// openLog opens the node's log. Checking a log of gigabytes takes longer than medics wait for a heartbeat, so the node sends heartbeats as
// soon as it has locked its data directory (N9). Until the log is open these carry a temporary identity, and their mark moves with each
// record. If another process holds the directory, this one leaves it alone and sends nothing in that node's name (N4).
//
// On a full disk, or without file descriptors, openLog waits and tries again (W5). If ctx ends meanwhile, it returns the error of ctx.
func (x *node) openLog(ctx context.Context, started time.Time) (analysis *core.LogAnalysis, err error) {
	reserve := int64(0) // a log in memory has none: it is not what fills a disk
	if x.cfg.Direct == nil {
		reserve = shell.Reserve(int64(x.cfg.Topology.Limits.Commit), int64(x.cfg.Topology.Limits.Chunk))
	}
	for ctx.Err() == nil {
		analysis = core.NewLogAnalysis(x.removes())
		x.log, err = wal.Open(x.node.DataDir, wal.Options{
			SegmentSize: int(x.cfg.Topology.Limits.Segment), FS: x.cfg.Disk, Logger: x.cfg.Log,
			Reserve:  reserve,
			OnLocked: func() error { return x.beginBeats(started) }, OnSegment: ctx.Err, OnSync: x.onSync(),
			OnRecord: func(i wal.Index, _ byte, data []byte) {
				progress.Mark()
				analysis.Add(link.LogIndex(i), data)
			},
		})
		if err == nil {
			id := x.log.Identity()
			x.id = link.Identity{LogID: id.LogID, Incarnation: link.Incarnation(id.Incarnation), Life: link.Life(id.Life)}
			x.beats.publish(heartbeat.Beat{Node: x.node.ID, ID: x.id, State: heartbeat.Recovering, LogBytes: uint64(max(0, x.log.Size()))})
			return analysis, nil
		}
		if !errors.Is(err, wal.ErrDiskFull) || x.beats == nil {
			return nil, fmt.Errorf("node %s: open its data: %w", x.node.ID, err)
		}
		x.beats.publish(heartbeat.Beat{Node: x.node.ID, ID: x.id, State: heartbeat.Recovering, NoRoom: true, Trouble: err.Error()})
		select {
		case <-ctx.Done():
		case <-time.After(openRetry):
		}
	}
	return nil, ctx.Err()
}

// removes returns how recovery reads what gateways have recorded; nil if the node does not have the product's roles.
func (x *node) removes() core.Removal {
	if x.cfg.Roles != nil {
		return nil
	}
	return chain.Removes(x.node.Chain)
}

// beginBeats opens the sockets and starts the heartbeats.
func (x *node) beginBeats(started time.Time) error {
	if x.beats != nil {
		return nil
	}
	if _, err := rand.Read(x.id.LogID[:]); err != nil {
		return fmt.Errorf("draw a name: %w", err)
	}
	if err := x.openSockets(); err != nil {
		return err
	}
	x.beats = newBeats(x, started)
	return nil
}

// watched is a log that recovery reads. Each record counts as progress, and reading a large snapshot counts as waiting
// for the disk. When ctx ends, reading ends too.
type watched struct {
	*wal.Log
	ctx   context.Context
	beats *beats
}

func (w watched) LoadSnapshot() (at wal.Index, data []byte, ok bool, err error) {
	w.beats.waiting.Store(true)
	defer w.beats.waiting.Store(false)
	return w.Log.LoadSnapshot()
}

func (w watched) Replay(from wal.Index, fn func(i wal.Index, typ byte, data []byte) error) error {
	return w.Log.Replay(from, func(i wal.Index, typ byte, data []byte) error {
		progress.Mark()
		if err := w.ctx.Err(); err != nil {
			return err
		}
		return fn(i, typ, data)
	})
}
