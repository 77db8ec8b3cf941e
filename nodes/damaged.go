package nodes

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/progress"
	"posta.dev/posta/wal"
	"posta.dev/posta/zmqx"
)

// repairedEvery is the interval at which a damaged node looks whether its log has been repaired.
const repairedEvery = 500 * time.Millisecond

// errRepaired ends a damaged node's waiting.
var errRepaired = errors.New("the log was repaired")

// damaged reports whether the log must be repaired before it can be used (W2).
func damaged(err error) (*wal.CorruptionError, bool) {
	var c *wal.CorruptionError
	return c, errors.As(err, &c)
}

// waitForRepair keeps a node running although its log is damaged. The node takes, sends and stores nothing. Its heartbeats say what is
// damaged and what to do. So medics do not restart the node, `posta status` shows the damage, and inputs fail the running sessions and
// begin no new ones. Clients of this node get the same text. waitForRepair returns errRepaired when the log has been changed, as `posta log
// repair` does, and nil when ctx ends.
//
// Exiting was rejected: medics would start the node again and again, and clients would only learn that the node does not answer.
func (x *node) waitForRepair(ctx context.Context, cause *wal.CorruptionError) error {
	x.beats.waiting.Store(true)
	if err := x.closeLog(); err != nil { // the repair needs exclusive use of the directory
		return err
	}
	repaired := newRepairWatch(x.node.DataDir) // before anybody is told, because whoever is told may repair the log at once
	x.cfg.Log.Error("W2: this node's log is damaged: the node takes part in nothing until it is repaired", "dir", x.node.DataDir, "err", cause)
	var requests <-chan []zmqx.Received
	if x.router != nil {
		requests = x.router.C()
	}
	text := fmt.Sprintf("%s at byte %d: %s; run: posta log repair %s", filepath.Join(cause.Dir, cause.File), cause.Offset, cause.Reason,
		cause.Dir)
	x.beats.publish(heartbeat.Beat{Node: x.node.ID, ID: x.id, State: heartbeat.Damaged, Trouble: text})
	look := time.NewTicker(repairedEvery)
	defer look.Stop()
	for {
		progress.Mark() // waiting is not a hang
		select {
		case <-ctx.Done():
			return nil
		case <-x.tr.Events(): // senders keep what this node does not acknowledge
		case batch := <-requests:
			for _, r := range x.wellFormed(batch) {
				refusal := protocol.Refuse(protocol.ErrFailed, fmt.Sprintf("node %s: its log is damaged: %s", x.node.ID, text))
				x.reply(core.Reply{To: r.From, Body: refusal.Append(nil)})
			}
		case <-look.C:
			if repaired.look() {
				return errRepaired
			}
		}
	}
}

// repairWatch tells when a damaged log is worth opening again: a file of it was changed, the change is finished, and
// no other process has the log open. Only opening the log shows whether it is sound. If it is not, the node waits for
// the next change, so each change costs one reading of the log.
type repairWatch struct {
	dir           string
	damaged, last uint64 // fingerprints of the damaged log, and at the last look
}

func newRepairWatch(dir string) *repairWatch {
	now, _ := wal.Fingerprint(dir) // an unreadable file has another fingerprint once it can be read
	return &repairWatch{dir: dir, damaged: now, last: now}
}

func (w *repairWatch) look() bool {
	now, err := wal.Fingerprint(w.dir)
	if err != nil {
		now = w.damaged // it may be about to be replaced
	}
	rests := now == w.last
	w.last = now
	return rests && now != w.damaged && wal.Holder(w.dir) == ""
}
