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

// repairedEvery is how often a damaged node looks whether somebody has repaired its log.
const repairedEvery = 500 * time.Millisecond

// errRepaired ends a damaged node's waiting.
var errRepaired = errors.New("the log was repaired")

// damaged reports whether the log cannot be used before somebody has repaired it (W2).
func damaged(err error) (*wal.CorruptionError, bool) {
	var c *wal.CorruptionError
	return c, errors.As(err, &c)
}

// waitForRepair keeps a node up whose log is damaged. It takes, sends and stores nothing. Its heartbeats say what is damaged and what to do:
// medics let it be, `posta status` shows it, and inputs fail the sessions that run and begin none. Its own clients hear the same. It
// returns errRepaired when somebody has changed the log since, as `posta log repair` does, and nil when ctx ends.
//
// To exit was turned down: medics would start the node for ever, and clients would only hear that nobody answers.
func (x *node) waitForRepair(ctx context.Context, cause *wal.CorruptionError) error {
	x.cfg.Log.Error("W2: this node's log is damaged: the node takes part in nothing until it is repaired", "dir", x.node.DataDir, "err", cause)
	x.beats.waiting.Store(true)
	if err := x.closeLog(); err != nil { // the repair needs the directory for itself
		return err
	}
	var requests <-chan []zmqx.Received
	if x.router != nil {
		requests = x.router.C()
	}
	text := fmt.Sprintf("%s at byte %d: %s; run: posta log repair %s", filepath.Join(cause.Dir, cause.File), cause.Offset, cause.Reason, cause.Dir)
	x.beats.publish(heartbeat.Beat{Node: x.node.ID, ID: x.id, State: heartbeat.Damaged, Trouble: text})
	repaired := newRepairWatch(x.node.DataDir)
	look := time.NewTicker(repairedEvery)
	defer look.Stop()
	for {
		progress.Mark() // it does what there is to do
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

// repairWatch tells when it pays to open a damaged log again: something of it was changed, that has come to rest, and nobody has it open. To open it is
// what shows whether it is sound. One that is not is waited for anew, so that each change costs one reading of the log.
type repairWatch struct {
	dir           string
	damaged, last uint64 // fingerprints: of the damaged log, and of the last look
}

func newRepairWatch(dir string) *repairWatch {
	now, _ := wal.Fingerprint(dir) // what cannot be read now has changed when it can
	return &repairWatch{dir: dir, damaged: now, last: now}
}

func (w *repairWatch) look() bool {
	now, err := wal.Fingerprint(w.dir)
	if err != nil {
		now = w.damaged // somebody may be about to replace it
	}
	rests := now == w.last
	w.last = now
	return rests && now != w.damaged && wal.Holder(w.dir) == ""
}
