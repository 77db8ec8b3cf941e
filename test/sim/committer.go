package sim

import (
	"errors"
	"slices"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/wal"
)

func (n *node) latency() time.Duration {
	if n.w.Chance(0.05) {
		return n.w.Between(5*time.Millisecond, 150*time.Millisecond)
	}
	return n.w.Between(100*time.Microsecond, 4*time.Millisecond)
}

// takeJob gives the committer a job. Now and then the stored state is compared with the node's state in memory.
func (n *node) takeJob(j *shell.Job) {
	w := n.w
	n.job = j
	if j.Commit != nil && j.Commit == n.commit {
		n.state = nil // not compared: a job that is tried again after a full disk also cuts what was acknowledged meanwhile
	} else if j.Commit != nil {
		n.commit, n.state = j.Commit, nil
		n.checker.seals()
		if w.sealed++; w.sealed%47 == 0 && !n.core().Pending() {
			n.state = n.core().Snapshot()
		}
	}
	n.later(n.latency(), n.carryOut)
}

// carryOut does the committer's work on its job. The process may die in the middle of it, or after it and before the loop has learned about
// it.
func (n *node) carryOut() {
	w := n.w
	if w.At < w.faults.end && w.Chance(w.faults.crash) {
		n.crash("in the middle of a job")
		w.restart(n)
		return
	}
	a := shell.CarryOut(&watched{n.log, n}, *n.job)
	n.carriedOut(&a)
	n.job, n.isFull = nil, errors.Is(a.Err, wal.ErrDiskFull)
	if errors.Is(a.Err, errDied) {
		n.crash("in its first job")
		w.restart(n)
		return
	}
	if a.Stored && n.state != nil {
		n.recoversTo(n.state)
	}
	if n.crashes("after its fsync") {
		return
	}
	n.shell.Answer(n.now(), a)
	n.wake()
}

// carriedOut remembers what the next log takes over, until that is stored in the next log.
func (n *node) carriedOut(a *shell.Answer) {
	n.left = a.Retired && a.Heritage != nil || n.left && !a.Retired && !a.Stored
}

// partly carries out a part of the job, like a process that dies while it does so.
func (n *node) partly() {
	if n.job == nil || !n.w.Chance(0.7) {
		return
	}
	n.disk.dieSoon()
	a := shell.CarryOut(&watched{n.log, n}, *n.job)
	n.carriedOut(&a)
	n.w.tracef("%s dies in a job: stored %v, snapshot saved %v, %v", n.id, a.Stored, a.Saved, a.Err)
	n.job = nil
}

// watched is a node's log in its committer's view. The checker hears what becomes durable, and checks that nothing is cut that is needed.
type watched struct {
	openLog
	n *node
}

func (l *watched) Append(records ...wal.Record) (wal.Index, error) {
	at, err := l.openLog.Append(records...)
	n := l.n
	if err != nil {
		n.w.tracef("%s does not store its commit: %v", n.id, err)
		return at, err
	}
	for i := range records {
		data := joined(records[i].Parts)
		n.checker.durable(at-wal.Index(len(records)-1-i), data)
		n.w.tracef("%s stored %d: %d bytes", n.id, at, len(data))
		n.w.mix('W', byte(n.place), byte(n.index), byte(len(data)), byte(len(data)>>8))
	}
	return at, nil
}

func (l *watched) Cut(upTo wal.Index) error {
	err := l.openLog.Cut(upTo)
	l.n.checker.cut(l.First())
	return err
}

// errDied is the disk's answer to a dead process.
var errDied = errors.New("the process is dead")

// refusal is a frame that the transport refused; it then also refused all later frames.
type refusal struct {
	edge string
	to   link.NodeID
	seq  link.Seq
}

// unsent tells the shell how many frames the transport took.
func (n *node) unsent(s *core.Send, took int) {
	f := &s.Frames[took]
	n.shell.Unsent(s.Edge, s.To, f.Seq)
	if f.Kind != link.Hello { // a hello is repeated by itself
		n.refused = append(n.refused, refusal{s.Edge, s.To, f.Seq})
	}
}

// offersAgain checks that frames which the transport did not take are offered again with the next step, if nothing was heard meanwhile.
func (n *node) offersAgain(o *shell.Output) {
	for _, r := range n.refused {
		offered := slices.ContainsFunc(o.Sends, func(s core.Send) bool {
			return s.Edge == r.edge && s.To == r.to && slices.ContainsFunc(s.Frames, func(f link.Frame) bool { return f.Seq == r.seq })
		})
		if !offered && !n.suspect && o.End == nil {
			n.w.fail("R7: the transport of %s did not take frame %d of %s to %q, and it is not offered again", n.id, r.seq, r.edge, r.to)
		}
	}
	n.refused = n.refused[:0]
}
