package protocol

import (
	"maps"
	"math"
	"slices"
	"time"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/csv"
)

// RequestType is the type of a request.
type RequestType string

// The requests. Hold is for a program that changes the cluster. Every node answers info and sessions; inputs, outputs or both answer the
// others (see docs/protocol.md).
const (
	Open     RequestType = "open"
	Chunk    RequestType = "chunk"
	Read     RequestType = "read"
	End      RequestType = "end"
	Ping     RequestType = "ping"
	Results  RequestType = "results"
	Cancel   RequestType = "cancel"
	Close    RequestType = "close"
	Sessions RequestType = "sessions"
	Info     RequestType = "info"
	Hold     RequestType = "hold"
)

// Request is any request; Type decides which fields are used.
type Request struct {
	Type    RequestType
	Session session.ID // all but sessions, info and hold

	// token of the client that opened the session (R17): in open, chunk, end; in ping, results, cancel and close of this client
	Token session.Token
	Force bool // cancel, close: by the command of a person, without a token, whichever client opened the session

	Analysis string            // open
	Params   map[string]string // open: what differs from the defaults
	Plan     []byte            // open: the plan from which the analysis is compiled; optional
	Trace    session.Trace     // open: optional

	Takeover bool            // open: continue with a session that another client opened and left (R17)
	Openers  session.Openers // open with Takeover: none at the first input; at the others, those that the first one answered

	Stream string // chunk, read, end; ping: the last stream whose end this input has acknowledged, or empty

	Lane   uint32 // chunk, read: below MaxLanes
	Seq    uint64 // chunk, read: from 1 without gaps, per session and lane at one input, over all streams
	File   string // chunk, read: path below the data directory with slashes, without ".gz" or the like
	Line   uint64 // chunk, read: line of the file on which the first record starts; the header is on line 1
	Header []byte // chunk, read: the file's header line
	Data   []byte // chunk: whole records

	// chunk: if Placed is set, At is how many bytes of the file's records come before these, counted as the file's chunks carry them. Without
	// it, no other client can continue the upload.
	At     uint64
	Placed bool

	Path  string // read: absolute path of the file on the input's host
	From  uint64 // read: offset of the file at which Line begins
	Stamp Stamp  // read: the file's stamp, as the client sees it

	// end: the last sequence number of every lane at this input that has sent anything. ping: the last one that this input has
	// acknowledged.
	Lanes []LaneSeq

	// ping: how many bytes of its files the client has read, out of how many; both are 0 if it does not know. The unit is the client's, as
	// only the share and how fast it grows are used. FilesRead may be above FilesSize, because files may grow.
	FilesRead, FilesSize uint64

	After uint64        // results: number of the last part that the client has, at first 0
	Wait  time.Duration // results, read: how long the node may wait for news; milliseconds on the wire

	Lease time.Duration // hold: how long no session is opened, at most LongestHold; 0 ends the hold
}

// Stamp identifies a file that is read in place, and shows whether it has changed (S8).
type Stamp struct {
	Size     uint64 // bytes
	Modified int64  // nanoseconds since 1970
	Inode    uint64
}

// ReadEnd returns where a read of a file ends that begins at from. In a file of columns, this is the end of a part, whose number is also
// returned; in other files, which have size bytes, it is the end of the file, and part is -1.
func ReadEnd(header []byte, from, size uint64) (part int, end uint64) {
	if !csv.IsColumnar(header) {
		return -1, size
	}
	return int(from >> PartBits), (from>>PartBits + 1) << PartBits
}

// LaneSeq is a lane and the last sequence number sent or accepted on it.
type LaneSeq struct {
	Lane uint32
	Seq  uint64
}

// Append appends the request's frame to dst. Data comes last.
func (q *Request) Append(dst []byte) []byte {
	dst = q.AppendHead(dst, len(q.Data))
	if q.Type == Chunk {
		dst = append(dst, q.Data...)
	}
	return dst
}

// AppendHead appends the frame of a chunk up to its data, which will have size bytes. The frame is head and data end to end. So a
// caller that already has the data in place need not copy it.
func (q *Request) AppendHead(dst []byte, size int) []byte {
	return appendMessage(dst, requestHead{q, size})
}

// requestHead is a request whose caller appends the data, of size bytes.
type requestHead struct {
	*Request
	size int
}

func (h requestHead) fields(c *codec) {
	h.Request.fields(c)
	if h.Type == Chunk && c.writes("data") {
		c.b = wire.AppendBinHeader(c.b, h.size)
	}
}

// DecodeRequest reads a request. Plan, Header and Data are views into frame and live as long as it does; everything else is copied. The
// result has the fields that the request's type needs, within the limits. Unknown keys are ignored.
func DecodeRequest(frame []byte) (Request, error) {
	var q Request
	d := newDecoder(frame)
	d.whole(&q)
	q.check(&d)
	return q, d.done()
}

func (q *Request) fields(c *codec) {
	c.version()
	c.text("type", MaxName, (*string)(&q.Type))
	if c.has(q.Session != session.ID{}) {
		c.session("session", &q.Session)
	}
	c.token("token", &q.Token)
	c.flag("force", &q.Force)
	if c.has(q.Type == Open) {
		c.text("analysis", MaxName, &q.Analysis)
		c.params("params", &q.Params)
		if c.has(len(q.Plan) > 0) {
			c.bytes("plan", MaxPlan, &q.Plan)
		}
		c.trace("trace", &q.Trace)
		c.flag("takeover", &q.Takeover)
		c.openers("openers", &q.Openers)
	}
	if c.has(q.Type == Chunk || q.Type == Read || q.Type == End || q.Type == Ping && q.Stream != "") {
		c.text("stream", MaxName, &q.Stream)
	}
	if c.has(q.Type == Chunk || q.Type == Read) {
		if below(c, "lane", MaxLanes, &q.Lane) {
			c.d.hasLane = true
		}
		c.uint("seq", &q.Seq)
		c.text("file", MaxFile, &q.File)
		c.uint("line", &q.Line)
		c.bytes("header", MaxHeader, &q.Header)
		c.place("at", q)
	}
	if c.reads("data") { // only chunks have it; requestHead writes it
		q.Data = c.d.view("data", MaxData)
	}
	if c.has(q.Type == Read) {
		c.text("path", MaxFile, &q.Path)
		c.uint("from", &q.From)
		c.stamp("stamp", &q.Stamp)
	}
	if c.has(q.Type == End || q.Type == Ping && len(q.Lanes) > 0) {
		c.lanes("lanes", &q.Lanes)
	}
	if c.has(q.Type == Ping && q.FilesSize > 0) {
		c.fileBytes(&q.FilesRead, &q.FilesSize)
	}
	if c.has(q.Type == Results) {
		c.uint("after", &q.After)
	}
	if c.has(q.Type == Results || q.Type == Read) {
		c.millis("wait_ms", LongestPoll, &q.Wait)
	}
	if c.has(q.Type == Hold) {
		c.millis("lease_ms", LongestHold, &q.Lease)
	}
}

// place is omitted by a client that does not say where its chunks are in the file.
func (c *codec) place(key string, q *Request) {
	if c.has(q.Placed) {
		if c.writes(key) {
			c.b = wire.AppendUint(c.b, q.At)
		} else if c.reads(key) {
			q.At, q.Placed = c.d.below(key, MaxOffset), true
		}
	}
}

// params are sorted by name, so that equal requests have equal bytes.
func (c *codec) params(key string, v *map[string]string) {
	if c.writes(key) {
		c.b = wire.AppendMap(c.b, len(*v))
		for _, name := range slices.Sorted(maps.Keys(*v)) {
			c.b = appendText(appendText(c.b, name), (*v)[name])
		}
	} else if c.reads(key) {
		*v = make(map[string]string)
		c.d.names("parameter", MaxParams, func(name string) { (*v)[name] = c.d.text("parameter", MaxText) })
	}
}

// check checks that the request has all fields that its type needs.
func (q *Request) check(d *decoder) {
	switch q.Type {
	case Sessions, Info, Hold:
		return
	case Open:
		q.need(d, "analysis", q.Analysis != "")
		q.needToken(d)
		q.need(d, "takeover, and with openers", q.Takeover || len(q.Openers) == 0)
	case Chunk:
		q.checkRecords(d)
		q.need(d, "data", q.Data != nil) // a misspelt key must not lose rows
		q.needToken(d)
	case Read:
		q.checkRecords(d)
		q.need(d, "path", q.Path != "")
		q.need(d, "stamp", d.hasStamp)
		if _, end := ReadEnd(q.Header, q.From, q.Stamp.Size); q.From >= MaxOffset || q.From > end || q.Stamp.Size > math.MaxInt64 {
			d.fail("a read from byte %d of a file of %d", q.From, q.Stamp.Size)
		}
		q.needToken(d)
	case End:
		q.need(d, "stream", q.Stream != "")
		q.needToken(d)
	case Cancel, Close:
		q.need(d, "token (the opener's) or force", q.Token != session.Token{} || q.Force)
	case Ping, Results:
	default:
		d.fail("unknown request type %.40q; the types are open, chunk, read, end, ping, results, cancel, close, sessions, info, hold", q.Type)
	}
	q.need(d, "session", q.Session != session.ID{})
}

// checkRecords checks that a request names its file and its records in it.
func (q *Request) checkRecords(d *decoder) {
	q.need(d, "stream", q.Stream != "")
	q.need(d, "lane", d.hasLane)
	q.need(d, "seq (from 1)", q.Seq > 0)
	q.need(d, "file", q.File != "")
	q.need(d, "line (from 1)", q.Line > 0)
	if q.Line >= MaxLine {
		d.fail("line %d of a file; lines are below %d", q.Line, uint64(MaxLine))
	}
	q.need(d, "header", len(q.Header) > 0)
}

func (q *Request) needToken(d *decoder) {
	q.need(d, "token (16 random bytes, chosen once for the session)", q.Token != session.Token{})
}

func (q *Request) need(d *decoder, what string, there bool) {
	if !there {
		d.fail("a request of type %s without %s", q.Type, what)
	}
}
