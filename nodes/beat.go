package nodes

import (
	"cmp"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/postmortem"
	"posta.dev/posta/nodes/watch"
	"posta.dev/posta/rows/progress"
)

var pid = os.Getpid()

const (
	// diskSlowAfter is how long a commit is under way before the node's state says that its disk is slow.
	diskSlowAfter = time.Second
	// wordsTime is how long a node whose loop hangs has for its note and its stacks. A disk or a terminal that hangs as well must not keep it alive.
	wordsTime = 5 * time.Second
	// maxStacks bounds what is logged of the stacks of a loop that hangs, in bytes.
	maxStacks = 1 << 20
)

// beats is the goroutine that publishes the node's heartbeats, from before the log is read until after the drain (N9). The loop hands it what there
// is to say. If the loop works on something for long, the heartbeat says the same again, with what the loop works on and for how long its mark has
// stood. If the mark stands for medics.stuck_after the loop hangs, and the node ends itself. The goroutine never touches a disk: see notes.
//
// Heartbeats of the loop's own were turned down: a node that worked on one large batch fell silent, and medics killed it again and again.
type beats struct {
	x       *node
	started time.Time
	waiting atomic.Bool  // the node waits for the disk, and for nothing else
	commit  atomic.Int64 // when the commit under way was begun, in nanoseconds since started, plus 1; 0: none is

	mu   sync.Mutex
	last heartbeat.Beat // what the loop said last

	wake    chan struct{} // there is something new to say
	end     chan struct{}
	stopped chan struct{}
}

// newBeats begins with the heartbeats of a node that opens its log, and so waits for its disk.
func newBeats(x *node, started time.Time) *beats {
	b := &beats{x: x, started: started, wake: make(chan struct{}, 1), end: make(chan struct{}), stopped: make(chan struct{})}
	b.last = heartbeat.Beat{Node: x.node.ID, ID: x.id, State: heartbeat.Recovering}
	b.waiting.Store(true)
	go b.run()
	return b
}

// publish says something new. It does not block.
func (b *beats) publish(beat heartbeat.Beat) {
	b.mu.Lock()
	b.last = beat
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default: // it is awake already, and takes the newest
	}
}

// committing says that a commit is begun or done.
func (b *beats) committing(is bool) {
	at := int64(0)
	if is {
		at = int64(time.Since(b.started)) + 1
	}
	b.commit.Store(at)
}

// stop awaits the last heartbeat.
func (b *beats) stop() {
	close(b.end)
	<-b.stopped
}

func (b *beats) run() {
	defer close(b.stopped)
	m := b.x.cfg.Topology.Medics
	tick := time.NewTicker(m.Heartbeat)
	defer tick.Stop()
	hang := watch.NewHang(m.Heartbeat, time.Now(), progress.Marks())
	b.say(time.Now(), hang)
	said := time.Now()
	var words chan struct{} // nil until the loop hangs; closed when the node has said its last words
	for {
		select {
		case <-b.end:
			return
		case <-words:
			words = make(chan struct{}) // where the process is not the node's, it hangs on
			if b.x.cfg.Exit != nil {
				b.x.cfg.Exit(postmortem.ExitHung)
			}
		case <-b.wake:
		case <-tick.C:
			stands := hang.Tick(time.Now(), progress.Marks(), b.waiting.Load())
			if stands >= m.StuckAfter && words == nil {
				words = make(chan struct{})
				b.lastWords(stands, words)
			}
			if time.Since(said) < m.Heartbeat {
				continue
			}
		}
		said = time.Now()
		b.say(said, hang)
	}
}

// say publishes a heartbeat.
func (b *beats) say(now time.Time, hang *watch.Hang) {
	b.mu.Lock()
	beat := b.last
	b.mu.Unlock()
	beat.PID, beat.Uptime, beat.Trouble = pid, now.Sub(b.started), cmp.Or(beat.Trouble, trouble(b.x.tr))
	beat.Mark = progress.Marks()
	beat.MarkAge = hang.Stands(beat.Mark)
	if d, ok := b.x.watch.Now(); ok {
		beat.Role, beat.Session, beat.Stream = d.Role, d.Session, d.Stream
	}
	if since := b.commit.Load(); since > 0 && now.Sub(b.started)-time.Duration(since) >= diskSlowAfter {
		switch beat.State {
		case heartbeat.Running, heartbeat.Blocked, heartbeat.Draining:
			beat.State = heartbeat.DiskSlow
		}
	}
	b.x.tr.Heartbeat(beat.Append(nil))
}

// lastWords leaves a note of what the loop hangs on, and all stacks in the log, and closes said. Heartbeats go on meanwhile, or medics would end
// the node before it has said anything. It is best effort: neither a full disk nor one that hangs may keep the node alive. Where the process
// is not the node's alone, or does not end, medics end it.
func (b *beats) lastWords(stands time.Duration, said chan<- struct{}) {
	note := postmortem.Hung{For: stands}
	if d, ok := b.x.watch.Now(); ok {
		note.Role, note.Session, note.Stream = d.Role, d.Session.String(), d.Stream
	}
	var once sync.Once
	enough := func() { once.Do(func() { close(said) }) }
	time.AfterFunc(wordsTime, enough)
	go func() { // nobody awaits it: the process ends
		defer enough()
		var err error
		if note.Session != "" {
			err = postmortem.WriteHung(b.x.node.DataDir, note)
		}
		stacks := make([]byte, maxStacks)
		stacks = stacks[:runtime.Stack(stacks, true)]
		b.x.cfg.Log.Error("N9: the node's loop hangs: it ends itself, and its next life fails the session", "for", stands, "stage", note.Role,
			"session", note.Session, "stream", note.Stream, "note", err, "stacks", string(stacks))
	}()
}

// trouble is what is wrong with a transport now.
func trouble(t link.Transport) string {
	if t, ok := t.(link.Troubled); ok {
		return t.Trouble()
	}
	return ""
}
