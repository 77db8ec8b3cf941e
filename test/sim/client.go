package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/client/core"
	"posta.dev/posta/client/resume"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/test/simulator/eventqueue"
	"posta.dev/posta/topology"
)

// client is one client with one session: the real one, package client/core, over simulated connections. This package draws its data, its
// begin, its timeouts and its faults. It compares the client's answer with the oracle's, and the client's end with the faults.
type client struct {
	w         *world
	n         int
	id        session.ID
	who       security.Identity // the name that its connections prove
	token     session.Token
	claimants []string // other clients that have sent requests about the session as if it were theirs
	rival     *client  // the client with the same id and another token (R17)
	former    *client  // the client that this one replaces
	heir      *client  // the client that replaces this one
	upload    *upload
	want      answer
	entries   []*node
	inputs    []*node
	outputs   []*node

	session *core.Session
	conns   []*conn
	alarm   time.Duration // when the session is told the time; 0 if that is not planned
	task    int           // the index of the current task
	pieces  [2][]piece    // pieces of each stream that no lane has taken
	cut     [2]bool       // whether the pieces of the stream have been cut
	placed  placed        // files that inputs are to read
	got     answer
	taking  bool          // rows are on their way into got
	past    []pastRequest // for repeating old requests
	speech  *speech
	asked   string // the last request
	began   time.Duration

	rewired  bool // the topology has changed since the client began
	takeover bool // it takes the session over from the former one
	resumes  bool // it takes over and continues the former client's upload
	taken    *resume.Taken
	asleep   bool // its process is stopped
	missed   []func(time.Time)

	begun   bool
	sent    bool // all streams have ended
	ending  bool // the end of the last stream was sent
	gone    bool // it has vanished: its process died
	cancels bool
	over    bool
	dead    bool   // its process has ended
	verdict string // how it ended: empty for the right answer, else the code of a failure
}

func newClient(w *world) *client {
	c := &client{w: w, n: len(w.clients), who: w.faults.runner(), upload: newUpload(w), got: answer{}}
	for i := range c.id {
		c.id[i] = byte(w.Rand.IntN(256))
	}
	for i := range c.token {
		c.token[i] = byte(w.Rand.IntN(256))
	}
	if r, ok := w.speaksSQL(c.n); ok {
		c.upload.ask(w, r)
	}
	c.want = c.upload.oracle()
	c.inputs, c.outputs = w.nodesHolding(topology.Input), w.nodesHolding(topology.Output)
	c.speech = newSpeech(c)
	return c
}

// newRival makes a client that uses the id of another client, like a client that was started twice. It has its own
// token and its own rows.
func newRival(w *world, of *client) *client {
	c := newClient(w)
	c.id, c.rival, of.rival = of.id, of, c
	return c
}

func (c *client) String() string { return fmt.Sprintf("%d (session %s)", c.n, c.id.String()[:8]) }

func (c *client) begin() {
	w := c.w
	c.begun, c.began = true, w.At
	c.inputs, c.outputs = w.nodesHolding(topology.Input), w.nodesHolding(topology.Output)
	if c.former != nil {
		c.began = c.former.began // for the session, the former client's begin counts
	}
	w.tracef("client %s begins, poison %q", c, c.upload.poison)
	if w.Chance(w.faults.vanish) {
		w.After(w.Between(0, 6*time.Second), c.vanish)
	} else if w.Chance(w.faults.cancel) {
		w.After(w.Between(0, 6*time.Second), c.cancel)
	} else if w.faults.again && c.rival == nil && c.former == nil && w.Chance(0.5) {
		w.After(w.Between(0, 6*time.Second), c.sleep)
	}
	c.rewired = c.former != nil && c.former.rewired
	if w.faults.meddling {
		c.meddle()
	}
	var entries []string
	for range 1 + w.Rand.IntN(2) {
		n := eventqueue.OneOf(w.Queue, slices.Concat(c.inputs, c.outputs)...)
		c.entries, entries = append(c.entries, n), append(entries, string(n.id))
	}
	c.session = core.New(core.Config{
		Entries: entries, Analysis: c.upload.analysis, Plan: c.upload.plan, Params: c.upload.params, Session: c.id, Token: c.token,
		Reopens: c.former != nil && !c.takeover, Takeover: c.takeover, Resume: c.resumes,
		Lanes: 1 + w.Rand.IntN(4), Timeout: w.Between(300*time.Millisecond, 2*time.Second), GiveUpAfter: -1, Rand: w.Rand,
	}, w.Now())
	c.event(c.session.Discover)
	c.plansIntruders()
}

// ended returns how the session's last task ended.
func (c *client) ended(err error) {
	var refused *protocol.Error
	switch {
	case err == nil:
		c.checkAnswer()
		c.finish("", "")
	case errors.As(err, &refused):
		c.finish(refused.Code, err.Error())
	case errors.Is(err, resume.ErrOther):
		c.finish(codeOther, err.Error())
	case errors.Is(err, core.ErrInterrupted), errors.Is(err, resume.ErrUnknown):
		c.finish(codeInterrupted, err.Error())
	default:
		c.finish(clientsOwn, err.Error())
	}
}

func (c *client) checkAnswer() {
	if diff := c.got.differs(c.want); diff != "" {
		rule := "D1"
		if c.placed.changed {
			rule = "S8" // an answer to rows that no client has sent
		} else if c.rival != nil || c.former != nil || c.heir != nil {
			rule = "R17"
		}
		c.w.fail("%s: client %s gets a wrong answer: %s", rule, c, diff)
	}
	if c.upload.question != nil {
		c.w.report.Counters["rows of SQL"] += uint64(len(c.got[sqlQuery]))
	}
	if limit := c.w.layout.memory; limit > 0 && c.upload.members > limit {
		c.w.fail("R16: client %s gets an answer although its %d reference rows do not fit into %d bytes", c, c.upload.members, limit)
	}
	if c.upload.poison != "" {
		c.w.fail("N6: client %s gets an answer although its rows are poison", c)
	}
}

// finish ends the session for this client, and checks that it may end this way.
func (c *client) finish(code protocol.Code, reason string) {
	if c.over {
		return
	}
	c.over, c.verdict = true, string(code)
	c.w.tracef("client %s is over: %s %s", c, code, reason)
	c.w.mix('E', byte(c.n), byte(len(code)))
	if code != "" && !c.permitted(code, reason) {
		c.w.fail("%s: client %s ends with %s, and no fault permits it: %s", c.broken(code, reason), c, code, reason)
	}
}

// anyCancels reports whether any client of the session was cancelled.
func (c *client) anyCancels() bool {
	if c.rival != nil && c.rival.cancels {
		return true
	}
	for x := c; x != nil; x = x.former {
		if x.cancels {
			return true
		}
	}
	for x := c.heir; x != nil; x = x.heir {
		if x.cancels {
			return true
		}
	}
	return false
}

// clientsOwn is the code of an error that no node has answered: the client's session considers what it heard invalid.
const clientsOwn protocol.Code = "client"

// permitted reports whether an injected fault allows such an end.
func (c *client) permitted(code protocol.Code, reason string) bool {
	switch {
	case code == clientsOwn:
		return false
	case c.anyCancels() && (code == protocol.ErrCancelled || code == protocol.ErrFailed && strings.Contains(reason, "was cancelled")):
		return true
	case c.mayHaveLost():
		return reason != ""
	case c.resumes && code == codeInterrupted:
		return c.gaveUp()
	case c.rival != nil && c.rivalPermits(code, reason), c.againPermits(code, reason), c.rewiredPermits(code, reason):
		return true
	case c.placed.changed && code == protocol.ErrBadInput && says(reason, root, "the file has changed", "start the session again"):
		return true
	case c.upload.poison != "" && code == protocol.ErrFailed && c.saysWhere(reason):
		return true
	case code == protocol.ErrFailed && says(reason, "no room on its disk", "limits.tables"):
		c.w.report.Counters["no room for tables"]++
		return c.w.layout.tables > 0 && c.w.report.Injected["full disk"] > 0
	}
	return c.exceeds(code, reason)
}

// exceeds reports whether the client's rows are too large for a frame, or too many for a joiner (R15, R16), and the reason names that
// limit.
func (c *client) exceeds(code protocol.Code, reason string) bool {
	switch {
	case code == protocol.ErrFailed && strings.Contains(reason, "limits.frame"):
		c.w.report.Counters["too large"]++
		// A row may be twice as large in a table as it is as text.
		return 2*c.upload.large+rowHead > c.w.layout.frame && says(reason, "stream ", "limits.frame")
	case code == protocol.ErrBadInput && says(reason, "limits.frame", root):
		return 2*c.upload.large+rowHead > c.w.layout.frame
	case code == protocol.ErrTooLarge:
		return c.upload.large+rowHead > c.w.layout.frame
	case code == protocol.ErrFailed && strings.Contains(reason, "limits.memory is"):
		c.w.report.Counters["too much memory"]++
		return c.w.layout.memory > 0 && c.upload.referenceBytes() > c.w.layout.memory && says(reason, "stream ", "limits.memory")
	case code == protocol.ErrFailed && strings.Contains(reason, "limits.node_memory is"):
		return c.w.gaveWay(reason)
	}
	return false
}

// rowHead is an upper bound of what a frame with one row has besides the row's text.
const rowHead = 1200

// says reports whether a reason contains all words.
func says(reason string, words ...string) bool {
	for _, word := range words {
		if !strings.Contains(reason, word) {
			return false
		}
	}
	return true
}

// broken returns the rule that is violated when a session ends in a way that nothing permits.
func (c *client) broken(code protocol.Code, reason string) string {
	switch {
	case code == clientsOwn && says(reason, "rows are missing"):
		return "D1"
	case code == clientsOwn:
		return "N10"
	case c.upload.question != nil && says(reason, "plan"):
		return "Q1"
	case code == protocol.ErrBadInput, says(reason, "read where they lie"), c.placed.changed && says(reason, "taken already"):
		return "S8"
	case c.intruded(code, reason):
		return "S5"
	case c.rival != nil, c.former != nil, c.heir != nil:
		return "R17"
	case c.w.faults.meddling && (code == protocol.ErrCancelled || code == protocol.ErrClosed || says(reason, "was cancelled")):
		return "R17" // a stranger has ended it
	case code == protocol.ErrExpired, says(reason, "was silent"):
		return "M6" // an input counted as silence what was not the client's silence
	case says(reason, "limits.frame"), code == protocol.ErrTooLarge:
		return "R15"
	case says(reason, "limits.memory is"), says(reason, "limits.node_memory is"):
		return "R16"
	case says(reason, "does not have"), code == protocol.ErrUnknownSession:
		return "R3" // an input has reported something that it had not stored
	case says(reason, "lost its data"), says(reason, "has no open before it"), says(reason, "opened here"):
		return "R8"
	case c.upload.poison != "", says(reason, "panic"):
		return "N6"
	case says(reason, "taken already"):
		return "R5" // clients send no byte under two numbers, so an input has taken one chunk twice
	}
	return "R13"
}

// rivalPermits reports whether the other client with the same id allows such an end: this client came too late, and hears about the other's
// session (R17). The admitted client hears nothing about the other client.
func (c *client) rivalPermits(code protocol.Code, reason string) bool {
	r := c.rival
	if !r.begun || len(c.speech.opened) > 0 {
		return false
	}
	if r.mayHaveLost() {
		return true
	}
	switch code {
	case protocol.ErrInUse:
		return true
	case protocol.ErrFinished:
		return r.sent || r.ending // its end was received, and the answer is still under way
	case protocol.ErrClosed:
		return r.over
	case protocol.ErrCancelled:
		return c.cancels || r.cancels || r.over // or the session was closed before it was over
	case protocol.ErrExpired:
		return r.gone
	case protocol.ErrFailed:
		return c.cancels || r.cancels || r.upload.poison != "" || r.exceeds(code, reason)
	}
	return false
}

// mayHaveLost reports whether a lost disk may have held something of the session, or may seem to have. A session that begins after disks
// were replaced does not fail because of the lost ones (R8), with two exceptions. Inputs learn from its heartbeat that another input lost
// its disk, and a session may begin before that. And a late frame of the lost log may reach a receiver that never heard that log, so the
// receiver considers it a new log.
func (c *client) mayHaveLost() bool {
	w := c.w
	return w.losses > 0 && (c.began <= w.wiped || w.inputWiped || w.report.Injected["ghost"] > 0)
}

// saysWhere checks that the reason of a poisoned session names the place (N6).
func (c *client) saysWhere(reason string) bool {
	words := []string{"analysis simulated", "panic"}
	switch c.upload.poison {
	case poisonParse:
		words = append(words, "parser", "stream facts", "line ")
	case poisonJoin:
		words = append(words, "joiner", "stream ", "line ")
	case poisonReduce:
		words = append(words, "reducer", "query totals")
	}
	return says(reason, words...)
}

// vanish kills the client's process. The session that it had opened must end by itself.
func (c *client) vanish() {
	if !c.over && c.heir == nil { // a client that has an heir already only sleeps
		c.w.injected("vanish")
		c.gone = true
		c.over, c.dead, c.verdict = true, true, "vanished"
		c.w.tracef("client %s vanishes after it said %s", c, c.asked)
		if c.w.faults.again && c.rival == nil && (c.former == nil || c.mayDieAgain()) && c.heir == nil {
			c.startAgain()
		}
	}
}

// cancel sends a cancel request to one node, as another process could.
func (c *client) cancel() {
	if c.over {
		return
	}
	c.w.injected("cancel")
	c.cancels = true
	at := eventqueue.OneOf(c.w.Queue, slices.Concat(c.inputs, c.outputs)...)
	c.w.tracef("client %s cancels at %s", c, at.id)
	c.w.postAs(c.canceller(), at, (&protocol.Request{Type: protocol.Cancel, Session: c.id, Force: true}).Append(nil), nil)
}
