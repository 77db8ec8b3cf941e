package nodes

import (
	"errors"
	"time"

	"posta.dev/posta/nodes/postmortem"
)

// notes is the goroutine that removes outdated notes of the node's former processes (N9). Each removal is an fsync. On a slow disk an fsync
// in the loop would delay the loop, and one in the heartbeats' goroutine would silence the node.
type notes struct {
	x    *node
	over chan struct{} // the sessions of Config.Lost have failed, durably
	work chan postmortem.Working
	end  chan struct{}
	done chan struct{}
}

// newNotes starts the goroutine. Once the process has lived for rowTimeout, the goroutine removes the count of deaths
// in a row: the current sessions do not kill the node.
func newNotes(x *node, rowTimeout time.Duration) *notes {
	n := &notes{x: x, over: make(chan struct{}, 1), work: make(chan postmortem.Working, 1), end: make(chan struct{}),
		done: make(chan struct{})}
	go n.run(rowTimeout)
	return n
}

// settled reports that the failures of the given-up sessions are durable, so the notes about them may be removed. It does
// not block: a process gives up sessions only once.
func (n *notes) settled() { n.over <- struct{}{} }

// working asks for the note of work that takes long, or for its removal if the work names no session. It returns false if the goroutine is
// busy.
func (n *notes) working(w postmortem.Working) bool {
	select {
	case n.work <- w:
		return true
	default:
		return false
	}
}

// note writes or removes the note of work that takes long. Without the note, a death during the work is not counted.
func (n *notes) note(w postmortem.Working) {
	var err error
	if w.Session == "" {
		err = postmortem.RemoveWorking(n.x.node.DataDir)
	} else {
		err = postmortem.WriteWorking(n.x.node.DataDir, w)
	}
	if err != nil {
		n.x.cfg.Log.Debug("the note of work that takes long", "err", err)
	}
}

// stop waits for the removal that is under way. Removals that have not begun are left to the node's next process.
func (n *notes) stop() {
	close(n.end)
	<-n.done
	n.note(postmortem.Working{}) // the process ends in order, and not during the work
}

func (n *notes) run(rowTimeout time.Duration) {
	defer close(n.done)
	row := time.NewTimer(rowTimeout)
	defer row.Stop()
	for {
		select {
		case <-n.end:
			return
		case w := <-n.work:
			n.note(w)
		case <-n.over:
			n.removed(errors.Join(postmortem.RemoveHung(n.x.node.DataDir), postmortem.Settle(n.x.node.DataDir)))
		case <-row.C:
			n.removed(postmortem.RemoveDeaths(n.x.node.DataDir))
		}
	}
}

func (n *notes) removed(err error) {
	if err != nil {
		n.x.cfg.Log.Warn("a note of an earlier process of this node could not be removed: the next start reads it again, which does no harm",
			"err", err)
	}
}
