package nodes

import (
	"errors"
	"time"

	"posta.dev/posta/nodes/postmortem"
)

// notes is the goroutine that removes what former lives have noted, when it is outdated (N9). Each removal is an fsync. On a slow disk that would
// hold up the loop, and on the goroutine of the heartbeats it would silence the node.
type notes struct {
	x    *node
	over chan struct{} // the sessions of Config.Lost have failed, durably
	end  chan struct{}
	done chan struct{}
}

// newNotes forgets how often the node has died in a row once it has lived for rowTimeout: what this life works on does not kill it.
func newNotes(x *node, rowTimeout time.Duration) *notes {
	n := &notes{x: x, over: make(chan struct{}, 1), end: make(chan struct{}), done: make(chan struct{})}
	go n.run(rowTimeout)
	return n
}

// settled says that the sessions that were given up have failed durably, so that what tells of them may go. It does not block: a life gives up
// sessions once.
func (n *notes) settled() { n.over <- struct{}{} }

// stop awaits what is under way. What has not been begun is left to the next life.
func (n *notes) stop() {
	close(n.end)
	<-n.done
}

func (n *notes) run(rowTimeout time.Duration) {
	defer close(n.done)
	row := time.NewTimer(rowTimeout)
	defer row.Stop()
	for {
		select {
		case <-n.end:
			return
		case <-n.over:
			n.removed(errors.Join(postmortem.RemoveHung(n.x.node.DataDir), postmortem.Settle(n.x.node.DataDir)))
		case <-row.C:
			n.removed(postmortem.RemoveDeaths(n.x.node.DataDir))
		}
	}
}

func (n *notes) removed(err error) {
	if err != nil {
		n.x.cfg.Log.Warn("a note of a life before is not removed: what it says is done again at the next start, which changes nothing", "err", err)
	}
}
