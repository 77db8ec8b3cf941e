// Package role holds the types that the core of a node and its roles share: what a role is, what it is given, where it emits to. Each role
// has a package of its own beside this one.
//
// A role is deterministic: the same calls in the same order make the same state and the same output. It reads no clock, opens no file and
// starts no goroutine. After a crash the core repeats the calls that were recorded as durable, with an emitter that discards what the calls
// emit, because the log has that already (N2, N3).
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
	Wiring   string           // of the topology that it began with; empty: not known
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

	Prepared any    // what a Preparer has made of the chunk; nil if there was none. It does not travel.
	Taken    func() // the core's: called once, when it takes a chunk that was prepared

	sum    uint32
	summed bool
}

// Sum is CRC32C of Data, which is computed once. It is cheapest right before the chunk is parsed, on the same processor core, because the
// parser then finds in the cache what was read for the checksum. To compute it for all chunks first and parse them afterwards costs more.
func (c *Chunk) Sum() uint32 {
	if !c.summed {
		c.sum, c.summed = crc32.Checksum(c.Data, castagnoli), true
	}
	return c.sum
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Message is what one role hands to the next. Chunks and folded rows travel as they are between roles of one node; everything else is
// bytes.
type Message struct {
	Stream  int
	Payload []byte
	Chunk   *Chunk
	Folded  *Folded
}

// Folded is a chunk's rows that a parser has folded in a fork of its joiner, in the same node. None of it is durable. When Take has
// returned, the fork belongs to the parser again.
type Folded struct {
	Fork     analyses.Joiner
	Rejected []byte // as of Rows
}

// Forker is a role that lets the parser in front of it fold facts (analyses.Forker).
type Forker interface {
	// Fork returns another fork of a session's joiner. It returns nil if facts of the stream have to come as rows: the reference streams
	// have not ended yet (R11), or the analysis wants rows.
	Fork(id session.ID, stream int) analyses.Joiner
}

// Emitter takes what a role produces to the next role, in this node or in others.
type Emitter interface {
	// Partitions is the number of receivers that keys are spread over; 1 where the next role is in the same node.
	Partitions() int
	// Limits returns the bounds that apply to the role now.
	Limits() Limits
	// Emit passes m on. partition counts from 0 and matters only on edges of route hash. The payload belongs to the emitter from now on. A
	// payload larger than Limits.Frame fails the session (R15), so a role splits what it can.
	Emit(partition int, m Message)
}

// Role is one step of the pipeline in one node. Calls for different sessions are independent; an error fails its session
// alone (N6).
type Role interface {
	// Name is what people call the role.
	Name() string
	// Open makes room for a session.
	Open(s Session) error
	// Take handles data of a stream. durable says that the call changed state that must survive a crash. Such a call is recorded, and
	// repeated in recovery. A call that only changes what Flush emits is not durable. The payload of a durable call never changes. The
	// payload of any other call is overwritten after Take has returned, so the role keeps and emits no part of it.
	Take(id session.ID, m Message, out Emitter) (durable bool, err error)
	// Flush emits what Take has folded since the last Flush. It is called before a commit is closed and before End.
	Flush(id session.ID, out Emitter) error
	// End is called once for each stream of a session, when all senders have ended it. If more is true, the core calls More again and again
	// while the receivers' windows have room, and passes the end on afterwards (R9).
	End(id session.ID, stream int, out Emitter) (more bool, err error)
	// More continues with what End began.
	More(id session.ID, out Emitter) (more bool, err error)
	// Drop forgets a session. Roles other than gateways keep nothing of it, because recovery does not repeat calls of a session that is
	// dropped later in the log (N3). Drop is also called for sessions that were never opened.
	Drop(id session.ID, why Outcome)
	// Snapshot appends the durable state of a session; Restore, called after Open, takes it back.
	Snapshot(id session.ID, dst []byte) []byte
	Restore(id session.ID, data []byte) error
}

// Remembered is how many sessions that are over the core of a node remembers, and each of its gateways. The id of a forgotten session may
// be used again.
const Remembered = 1024

// Outcome is how a session left a node.
type Outcome struct {
	Failed bool
	Code   protocol.Code   // for clients; empty: protocol.ErrFailed, if Failed
	Reason string          // for people; set if Failed
	Fields protocol.Fields // for programs; may be set if Failed
	// whose session it is; if the node has not seen the session: to whose session the outcome applies, empty: to anybody's
	Owner string
}

// Peer names a client's connection, as the node's ROUTER does.
type Peer uint64

// Host is what the core offers to a gateway.
type Host interface {
	// Open starts a session in this node and announces it downstream. Its arguments have been checked. After an error the session does not
	// run here: another session has its id, or it was here and is over.
	Open(s Session, payload []byte) error
	// Feed hands data to the role behind the gateway.
	Feed(id session.ID, m Message) error
	// EndStream ends a stream of a session.
	EndStream(id session.ID, stream int)
	// TakeOver notes that a session has another opener now, and announces that downstream (R17). The payload is its announcement.
	TakeOver(s Session, payload []byte)
	// Abort fails a session here and downstream (R13).
	Abort(id session.ID, why Outcome)
	// Room reports whether a session's facts, or its reference data, can be fed: there is room in the windows of their receivers (R9) and
	// in the commit that is being built.
	Room(id session.ID, reference bool) bool
	// Confirmed reports whether every receiver has confirmed that this node's log continues what the receiver has (R14). Until then the log
	// may have to be retired, and a session that begins would fail with it.
	Confirmed() bool
	// Forget drops what the node's gateways keep of a session's answer. Its opener may ask for that, and its owner or an operator that
	// shows no token.
	Forget(id session.ID, by Asker)
	// Record makes a private change of the gateway durable: Apply is called with it in recovery.
	Record(payload []byte)
	// Reply answers a client now.
	Reply(to Peer, body []byte)
	// ReplyStored answers a client when all that was recorded and fed until now is on disk (R3).
	ReplyStored(to Peer, body []byte)
	// SavedReader reads what the gateway has saved (Filer).
	SavedReader
	// Release says that nobody uses a request's body any more, so that its memory can serve other requests. The call is optional.
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
	// Tick does what is due by now, and what waited for room. It is called often.
	Tick(now time.Time)
	// TakenOver says that a session has another opener now (R17), whether it runs in this node or has left it. It is repeated in recovery.
	TakenOver(s Session)
	// Forget drops what is kept of a session that a client has closed, if that client may close it.
	Forget(id session.ID, by Asker)
	// Apply repeats a recorded change in recovery.
	Apply(payload []byte) error
	// SnapshotAll appends what the gateway keeps beside the sessions of the core; RestoreAll takes it back.
	SnapshotAll(dst []byte) []byte
	RestoreAll(data []byte) error
	// Running counts the sessions that the gateway has not finished: uploads at an input, incomplete answers at an output.
	Running() int
}

// Ended is what an output tells the inputs about a session that needs no more uploading.
type Ended struct {
	ID     session.ID
	Opener session.TokenHash // the client that began the session; zero: the output has only heard that it failed
	Owner  string            // as in an Outcome, if the opener is not known
	Failed bool
	Code   protocol.Code // as in an Outcome, as Reason and Fields
	Reason string
	Fields protocol.Fields
}

// Heir is a gateway that leaves something to the node's next log when its log was set back to a former state (R14).
type Heir interface {
	// Bequeath returns what the next log takes over: data that is right whatever the log has lost. An empty slice means nothing.
	Bequeath() []byte
	// Inherit takes over what Bequeath returned, and records it. It is called before anything else.
	Inherit(data []byte) error
}

// Heard is the part of a node's heartbeat that gateways use.
type Heard struct {
	From    link.NodeID
	ID      link.Identity
	Full    bool         // its disk is full; it takes nothing until there is room
	Damaged string       // what is wrong with its log, and what to do; such a node has not opened its log, and ID only names the process (W2)
	Ended   []Ended      // at an output
	Waiting []session.ID // at a joiner: sessions whose facts have come and wait for the end of their reference data (R11)
}

// HeartbeatListener is a gateway that listens to what nodes say of themselves.
type HeartbeatListener interface {
	// Heartbeat is called for each heartbeat of another node, and with what this node reports of itself.
	Heartbeat(now time.Time, h Heard)
	// Awaits returns the sessions whose end the gateway waits for, sorted.
	Awaits() []session.ID
}

// Refuser is a gateway that hears of sessions that fail because another session has their id (R17).
type Refuser interface {
	// Refused says that a session failed that the gateway may never have heard of.
	Refused(e Ended)
}

// EndReporter is a gateway that has something to say in this node's heartbeats.
type EndReporter interface {
	// Ended returns what the next heartbeat reports, in at most limit bytes. Sessions that were never reported come first, then those that
	// were reported longest ago, so that each session is reported within a bounded number of calls (R16).
	Ended(limit int) []Ended
	// EndOf returns what is reported about these sessions, for gateways of the same node. It is called often, so its cost must not grow
	// with what the node keeps.
	EndOf(ids []session.ID) []Ended
}

// EndedBytes bounds, in bytes, what a heartbeat reports about sessions that have ended.
const EndedBytes = 64 << 10
