// Package role holds the nouns between the core of a node and the roles that run in it: what a role is, what it is given,
// where it emits to. The roles themselves are the packages beside it, one each.
//
// A role is deterministic: the same calls in the same order make the same state and the same output. It reads no clock,
// opens no file and starts no goroutine. After a crash the core repeats the calls that were recorded as durable, with an
// emitter that throws away what comes out: what had come out is in the log already (N2, N3).
package role

import (
	"hash/crc32"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// Session is what every role knows of a session.
type Session struct {
	ID       session.ID
	Analysis *analyses.Analysis
	Args     analyses.Args
	Replica  analyses.Replica // of the node among the replicas of its stage, counted from 0
	Wiring   string           // of the topology that it began with; empty: nobody has told
	Openers  session.Openers
	Owner    string // the name of the client that it belongs to (S5); empty: the local operator's
	Trace    session.Trace
	Digest   Digest // of the announcement
}

// Chunk is a piece of a CSV file, whole records, as a client sends it.
type Chunk struct {
	File   string // "montreal/trips.csv"
	Header []byte // the file's header record
	Line   uint64 // line of the first record
	Data   []byte

	Prepared any // what a Preparer has made of the chunk; nil if there was none. It does not travel.

	sum    uint32
	summed bool
}

// Sum is CRC32C of Data, which is computed once. To do that right before the chunk is parsed, on the same core, makes both cheaper than one after
// the other over all chunks: the parser finds in the cache what was read for the checksum.
func (c *Chunk) Sum() uint32 {
	if !c.summed {
		c.sum, c.summed = crc32.Checksum(c.Data, castagnoli), true
	}
	return c.sum
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Message is what one role hands to the next. Raw chunks stay chunks while they stay in a node; everything else is bytes.
type Message struct {
	Stream  int
	Payload []byte
	Chunk   *Chunk
}

// Emitter takes what a role produces to the next role, in this node or in others.
type Emitter interface {
	// Partitions is the number of receivers that keys are spread over; 1 where the next role is in the same node.
	Partitions() int
	// Limits are what the role has to keep to now.
	Limits() Limits
	// Emit passes m on. partition counts from 0 and matters on edges of route hash alone. The payload belongs to the
	// emitter from here on. One above Limits.Frame fails the session (R15): a role splits what it can.
	Emit(partition int, m Message)
}

// Role is one step of the pipeline in one node. Calls for different sessions are independent; an error fails its session
// alone (N6).
type Role interface {
	// Name is what people call the role.
	Name() string
	// Open makes room for a session.
	Open(s Session) error
	// Take handles data of a stream. durable says that the call changed state that must survive a crash: it is then
	// recorded and repeated in recovery. A call that only changes what Flush emits is not. The payload of a durable call stays
	// as it is for good; that of any other call is used for other data after Take has returned, so no part of it is kept or
	// emitted.
	Take(id session.ID, m Message, out Emitter) (durable bool, err error)
	// Flush emits what Take has folded since the last Flush. It is called before a commit is closed and before End.
	Flush(id session.ID, out Emitter) error
	// End is called once for each stream of a session, when all senders have ended it. more asks for calls of More, one by
	// one as the windows of the receivers have room, before the end is passed on (R9).
	End(id session.ID, stream int, out Emitter) (more bool, err error)
	// More goes on with what End began.
	More(id session.ID, out Emitter) (more bool, err error)
	// Drop forgets a session, wholly unless the role is a gateway: recovery does not repeat calls of a session that the log
	// says was dropped later (N3). It is also called for sessions that were never opened.
	Drop(id session.ID, why Outcome)
	// Snapshot appends the durable state of a session; Restore, called after Open, takes it back.
	Snapshot(id session.ID, dst []byte) []byte
	Restore(id session.ID, data []byte) error
}

// Remembered is how many sessions that are over a node remembers, its core and its gateways alike. Then their ids may be used again.
const Remembered = 1024

// Outcome is how a session left a node.
type Outcome struct {
	Failed bool
	Code   protocol.Code // for clients; empty: protocol.ErrFailed, if Failed
	Reason string        // for people; set if Failed
	Owner  string        // whose session it is; of one that the node has not seen, whose it would be, and empty for whoever's
}

// Peer names a client's connection, as the node's ROUTER does.
type Peer uint64

// Host is what the core offers to a gateway.
type Host interface {
	// Open starts a session in this node and announces it downstream. Its arguments have been checked. After an error the session does not run
	// here: its id is another session's, or it was here and is over.
	Open(s Session, payload []byte) error
	// Feed hands data to the role behind the gateway.
	Feed(id session.ID, m Message) error
	// EndStream ends a stream of a session.
	EndStream(id session.ID, stream int)
	// TakeOver notes that a session has another opener now, and announces that downstream (R17). The payload is its announcement.
	TakeOver(s Session, payload []byte)
	// Abort fails a session here and downstream (R13).
	Abort(id session.ID, why Outcome)
	// Room reports whether a stream's receivers can take more (R9), and the commit being built too.
	Room(stream int, reference bool) bool
	// Confirmed reports whether every receiver has told that this node's log continues what it has (R14). Until then the log may have to be
	// retired, and a session that begins would fail with it.
	Confirmed() bool
	// Forget drops what the node's gateways keep of a session's answer, for its opener, or for its owner or an operator that shows no token.
	Forget(id session.ID, by Asker)
	// Record makes a private change of the gateway durable: Apply is called with it in recovery.
	Record(payload []byte)
	// Reply answers a client now.
	Reply(to Peer, body []byte)
	// ReplyStored answers a client when all that was recorded and fed until now is on disk (R3).
	ReplyStored(to Peer, body []byte)
	// Release says that nobody uses a request's body any more: its memory is for other requests. It is never necessary.
	Release(body []byte)
}

// Gateway is a role that talks to clients.
type Gateway interface {
	Role
	// Attach is called once, before anything else.
	Attach(h Host)
	// Request handles a client's request; false if it is not this gateway's kind. r is valid during the call, its body until the gateway
	// releases it.
	Request(now time.Time, r *Request) bool
	// Tick does what time asks for, and what waited for room: it is called often.
	Tick(now time.Time)
	// TakenOver says that a session has another opener now (R17), whether it runs in this node or has left it. It is repeated in recovery.
	TakenOver(s Session)
	// Forget drops what is kept of a session that a client has closed, if that client may close it.
	Forget(id session.ID, by Asker)
	// Apply repeats a recorded change in recovery.
	Apply(payload []byte) error
	// SnapshotAll and RestoreAll are for what the gateway keeps beside the sessions of the core.
	SnapshotAll(dst []byte) []byte
	RestoreAll(data []byte) error
	// Running counts the sessions that hold a place.
	Running() int
}

// Ended is what an output tells the inputs of a session that needs no more uploading.
type Ended struct {
	ID     session.ID
	Opener session.TokenHash // the one that began the session; zero: the output has only heard that it failed
	Owner  string            // as of an Outcome, where nobody has told the opener
	Failed bool
	Code   protocol.Code // as of an Outcome
	Reason string
}

// Heir is a gateway that leaves something to the node's next log when its log was set back to a former state (R14).
type Heir interface {
	// Bequeath returns what the next log takes over: what is right whatever the log has lost. Nothing is an empty slice.
	Bequeath() []byte
	// Inherit takes over what Bequeath returned, and records it. It is called before anything else.
	Inherit(data []byte) error
}

// Heard is what a node says of itself in a heartbeat, as far as gateways ask for it.
type Heard struct {
	From    link.NodeID
	ID      link.Identity
	Full    bool         // its disk is full: it takes nothing in until there is room
	Damaged string       // what is wrong with its log, and what to do; such a node has no log open, and ID only names the process (W2)
	Ended   []Ended      // at an output
	Waiting []session.ID // at a joiner: sessions whose facts have come, and wait for the end of their reference data (R11)
}

// HeartbeatListener is a gateway that listens to what nodes say of themselves.
type HeartbeatListener interface {
	// Heartbeat is called for each heartbeat of another node, and for what there is to tell of this one.
	Heartbeat(now time.Time, h Heard)
	// Awaits returns the sessions whose end it wants to hear of, sorted.
	Awaits() []session.ID
}

// Refuser is a gateway that hears of sessions that fail because another session has their id (R17).
type Refuser interface {
	// Refused says that a session failed that the gateway may never have heard of.
	Refused(e Ended)
}

// EndReporter is a gateway that has something to say in this node's heartbeats.
type EndReporter interface {
	// Ended returns what the next heartbeat tells, in so many bytes: what was never told comes first, then what was told longest ago, so that each
	// session is told within a bounded number of calls (R16).
	Ended(limit int) []Ended
	// EndOf returns what is told of these sessions, for gateways of the same node. It is called often, so what it costs must not grow with
	// what the node keeps.
	EndOf(ids []session.ID) []Ended
}

// EndedBytes bounds what a heartbeat tells of sessions that have ended.
const EndedBytes = 64 << 10
