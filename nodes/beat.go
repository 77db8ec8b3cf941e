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
	"posta.dev/posta/nodes/internal/watch"
	"posta.dev/posta/nodes/postmortem"
	"posta.dev/posta/rows/progress"
)

var pid = os.Getpid()

const (
	// A node whose commit has been under way for diskSlowAfter reports that its disk is slow.
	diskSlowAfter = time.Second
	// wordsTime is how long a node whose loop hangs may take to write its note and its stacks. A disk or a terminal
	// that also hangs must not keep the node alive.
	wordsTime = 5 * time.Second
	// maxStacks bounds the stacks that are logged when the loop hangs, in bytes.
	maxStacks = 1 << 20
	// A node that works on one thing for longAfter leaves a note of it. So it is known what a process worked on that was killed.
	longAfter = time.Second
)

// beats is the goroutine that publishes the node's heartbeats, from before the log is read until after the drain (N9).
// The loop hands it the content of the heartbeats. If the loop works on something for long, the heartbeat repeats its
// last content, with what the loop works on and how long its progress mark has not moved. If the mark does not move
// for medics.stuck_after, the loop hangs and the node ends itself. The goroutine never touches a disk: see notes.
//
// Heartbeats sent by the loop itself were rejected: a node that worked on one large batch fell silent, and medics killed it again and
// again.
type beats struct {
	x       *node
	started time.Time
	waiting atomic.Bool  // the node waits only for the disk
	commit  atomic.Int64 // when the current commit began, in nanoseconds since started, plus 1; 0: no commit is under way

	mu   sync.Mutex
	last heartbeat.Beat // the loop's latest content

	memory memoryUsed // run owns it
	notes  atomic.Pointer[notes]
	noted  bool // there is a note of work that takes long; run owns it

	wake    chan struct{} // there is something new to say
	end     chan struct{}
	stopped chan struct{}
}

// newBeats starts the goroutine. The first heartbeats are those of a node that opens its log, and so waits for its disk.
func newBeats(x *node, started time.Time) *beats {
	b := &beats{x: x, started: started, wake: make(chan struct{}, 1), end: make(chan struct{}), stopped: make(chan struct{})}
	b.last = heartbeat.Beat{Node: x.node.ID, ID: x.id, State: heartbeat.Recovering}
	b.waiting.Store(true)
	go b.run()
	return b
}

// publish replaces the content of the heartbeats. It does not block.
func (b *beats) publish(beat heartbeat.Beat) {
	b.mu.Lock()
	b.last = beat
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default: // the goroutine is already woken, and takes the newest content
	}
}

// committing notes that a commit has begun (true) or is done (false).
func (b *beats) committing(is bool) {
	at := int64(0)
	if is {
		at = int64(time.Since(b.started)) + 1
	}
	b.commit.Store(at)
}

// stop ends the goroutine and waits until it has published its last heartbeat.
func (b *beats) stop() {
	close(b.end)
	<-b.stopped
}

func (b *beats) run() {
	defer close(b.stopped)
	m := b.x.cfg.Topology.Medics
	// The timer rings at the same moments as the loop's alarm for a heartbeat, so that both wake the process once. A timer that is reset by
	// each heartbeat of the loop, to ring a little later than the next one, was rejected: Go's runtime wakes the process at the time before
	// the reset, too, which was every second wake-up of an idle node.
	silent := time.NewTimer(heartbeat.Next(time.Now(), m.Heartbeat))
	defer silent.Stop()
	hang := watch.NewHang(m.Heartbeat, time.Now(), progress.Marks())
	long := watch.NewLong(m.Heartbeat, longAfter, time.Now())
	b.say(time.Now(), hang)
	var words chan struct{} // nil until the loop hangs; closed when lastWords is done
	heard := time.Time{}    // when the loop published last
	late := false           // the loop's heartbeat is due and not published
	for {
		select {
		case <-b.end:
			return
		case <-words:
			words = make(chan struct{}) // with no Exit the loop stays hung; a nil channel would restart lastWords
			if b.x.cfg.Exit != nil {
				b.x.cfg.Exit(postmortem.ExitHung)
			}
		case <-b.x.linesAsked:
			b.x.tellLines()
			continue
		case <-b.wake:
			heard, late = time.Now(), false
		case <-silent.C:
			if !late {
				runtime.Gosched() // the loop's alarm rings at the same moment: a loop that is not busy publishes now
			}
			select {
			case <-b.wake:
				heard, late = time.Now(), false
			default:
				if time.Since(heard) < m.Heartbeat/4 { // it has published just before
					silent.Reset(heartbeat.Next(time.Now(), m.Heartbeat))
					continue
				}
				if !late { // the loop is busy, and its heartbeat may be only a little late
					late = true
					silent.Reset(m.Heartbeat / 4)
					continue
				}
			}
			silent.Reset(heartbeat.Next(time.Now(), m.Heartbeat))
		}
		now := time.Now()
		stands := hang.Tick(now, progress.Marks(), b.waiting.Load())
		b.note(long, now)
		if stands >= m.StuckAfter && words == nil {
			words = make(chan struct{})
			b.lastWords(stands, words)
		}
		b.say(now, hang)
	}
}

// note has a note written of work that takes long, and removed when the work is done.
func (b *beats) note(long *watch.Long, now time.Time) {
	d, oldest := b.x.watch.Oldest()
	is := long.Tick(now, oldest)
	n := b.notes.Load()
	if n == nil || is == b.noted {
		return
	}
	w := postmortem.Working{}
	if is {
		w = postmortem.Working{Session: d.Session.String(), Role: d.Role, Stream: d.Stream}
	}
	if n.working(w) {
		b.noted = is
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
	beat.Memory = b.memory.at(now)
	if d, ok := b.x.watch.Now(); ok {
		beat.Role, beat.Session, beat.Stream = d.Role, d.Session, d.Stream
	}
	if since := b.commit.Load(); since > 0 && now.Sub(b.started)-time.Duration(since) >= diskSlowAfter {
		switch beat.State {
		case heartbeat.Running, heartbeat.Blocked, heartbeat.Draining:
			beat.State = heartbeat.DiskSlow
		}
	}
	b.x.metrics.said(&beat, now)
	payload := beat.Append(nil)
	public := payload
	if len(beat.Ended) > 0 {
		beat = beat.Public()
		public = beat.Append(nil)
	}
	b.x.tr.Heartbeat(payload, public)
}

// lastWords writes a note of what the loop hangs on, logs all stacks, and then closes said. Heartbeats continue meanwhile: without them
// medics would kill the node before the note is written. It is best effort: neither a full disk nor a hanging one may keep the node alive.
// If the process has no Exit, or does not end, medics end it.
func (b *beats) lastWords(stands time.Duration, said chan<- struct{}) {
	note := postmortem.Hung{For: stands}
	if d, ok := b.x.watch.Now(); ok {
		note.Role, note.Session, note.Stream = d.Role, d.Session.String(), d.Stream
	}
	var once sync.Once
	enough := func() { once.Do(func() { close(said) }) }
	time.AfterFunc(wordsTime, enough)
	go func() { // not awaited: the process ends
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

// trouble returns what is wrong with a transport now; "" if nothing is.
func trouble(t link.Transport) string {
	if t, ok := t.(link.Troubled); ok {
		return t.Trouble()
	}
	return ""
}
