package nodes

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/rows/progress"
	"posta.dev/posta/wal"
)

// openRetry is how often a node that had no room to open its log tries again.
const openRetry = time.Second

// openLog opens the node's log. To check a log of gigabytes takes longer than medics wait for a sign of life, so the node beats from the moment at
// which its data directory is its own (N9): until the log is open under a passing identity, with a mark that moves with each record. A directory
// that another process has is left alone, and nothing is said in that node's name (N4).
//
// A full disk, or a want of file descriptors, is waited for (W5). When ctx ends meanwhile there is no analysis, and no error.
func (x *node) openLog(ctx context.Context, started time.Time) (analysis *core.LogAnalysis, err error) {
	for ctx.Err() == nil {
		analysis = core.NewLogAnalysis()
		x.log, err = wal.Open(x.node.DataDir, wal.Options{
			SegmentSize: int(x.cfg.Topology.Limits.Segment), FS: x.cfg.Disk, Logger: x.cfg.Log,
			Reserve:  shell.Reserve(int64(x.cfg.Topology.Limits.Commit), int64(x.cfg.Topology.Limits.Chunk)),
			OnLocked: func() error { return x.beginBeats(started) },
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
		x.beats.publish(heartbeat.Beat{Node: x.node.ID, ID: x.id, State: heartbeat.Recovering, Trouble: err.Error()})
		select {
		case <-ctx.Done():
		case <-time.After(openRetry):
		}
	}
	return nil, nil
}

// beginBeats opens the sockets, and begins to beat.
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

// watched is a log that recovery reads: its records are marks, and to read a large snapshot is to wait for the disk.
type watched struct {
	*wal.Log
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
		return fn(i, typ, data)
	})
}
