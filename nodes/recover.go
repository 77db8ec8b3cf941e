package nodes

import (
	"fmt"

	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/wal"
)

// recover brings the core to where the log ends (N3). Heartbeats go on meanwhile, so that medics do not take a node with a long log for
// dead.
func (x *node) recover(analysis *core.LogAnalysis) (err error) {
	x.state = heartbeat.Recovering
	stop, stopped := make(chan struct{}), make(chan struct{})
	go x.beatUntil(stop, stopped)
	defer func() {
		close(stop)
		<-stopped
		if err != nil {
			err = fmt.Errorf("node %s: recovery: %w", x.node.ID, err)
		}
	}()
	at, snapshot, _, err := x.log.LoadSnapshot()
	if err != nil {
		return err
	}
	r, err := x.core.Recover(snapshot, logIndex(at), analysis)
	if err != nil {
		return err
	}
	from := max(wal.Index(r.First()), x.log.First())
	if err := x.log.Replay(from, func(i wal.Index, _ byte, data []byte) error { return r.Replay(logIndex(i), data) }); err != nil {
		return err
	}
	if err := r.Done(); err != nil {
		return err
	}
	if err := x.inherit(); err != nil {
		return err
	}
	x.snapAt, x.snapSize, x.logBytes = at, int64(len(snapshot)), x.log.Size()
	x.sinceCut = x.logBytes
	return nil
}
