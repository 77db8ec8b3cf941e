// Package heartbeat is what a node publishes about itself, several times a second, on its control socket: that it lives, the id of its log,
// how many times it has opened its data directory, what it does, and what it is waiting for (N8). Medics, inputs and `posta status` listen.
package heartbeat

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// State is what a node is doing.
type State string

// The states. A node that takes in nothing, although its senders have a backlog, is either Blocked on a link or stuck:
// the counters show whether it makes progress.
const (
	Recovering State = "recovering"
	Running    State = "running"
	Blocked    State = "blocked" // on the links whose backlog is Full
	DiskFull   State = "disk full"
	DiskSlow   State = "disk slow"           // a commit has been under way for at least a second: never a reason to restart a node (N9)
	NoFiles    State = "no file descriptors" // for its log; temporary, like a full disk
	Draining   State = "draining"
	Damaged    State = "damaged"  // the log has damage that no crash explains; Trouble says where, and what to do (W2)
	Retiring   State = "retiring" // the log was set back: the node puts it aside and begins an empty one (R14)
)

// Beat is one heartbeat.
type Beat struct {
	Node     link.NodeID
	ID       link.Identity
	PID      int
	State    State
	Uptime   time.Duration
	FramesIn uint64 // since the process started, like all counters
	BytesIn  uint64
	FramesOut,
	BytesOut uint64
	Damaged  uint64 // frames that arrived changed, or on the wrong link: dropped, and asked for again (R18)
	Commits  uint64
	LogBytes uint64 // size of the log now
	Sessions int    // sessions that have state in the node
	Running  int    // at an input: sessions that count towards limits.sessions; at an output: unfinished answers
	Links    []Link
	Ended    []role.Ended  // at outputs: sessions that need no more uploading
	Waiting  []session.ID  // at joiners: sessions whose facts wait for the end of their reference data
	Trouble  string        // what is wrong now and what to do about it, for people; at most MaxTrouble bytes; "" when all is well
	Mark     uint64        // counts the progress of the node's loop in this process; it also moves during a single batch (N9)
	MarkAge  time.Duration // how long Mark has not moved while the process ran; at most 100 years
	Role     string        // the role that works now, with its session and stream; empty between two calls
	Session  session.ID
	Stream   string
	Memory   uint64 // resident memory of the process in bytes, at most a second old; 0: unknown
	NoRoom   bool   // the node is Recovering, and waits for room or file descriptors to open its log (W5)
}

// Heard returns the part of the heartbeat that gateways of other nodes use.
func (b *Beat) Heard() role.Heard {
	h := role.Heard{From: b.Node, ID: b.ID, Full: b.State == DiskFull, Ended: b.Ended, Waiting: b.Waiting}
	if b.State == Damaged {
		h.Damaged = "its log is damaged: " + b.Trouble
	}
	return h
}

// Public returns the heartbeat as those get it who may see the cluster's status but no answers: without the reasons of failed sessions, in
// words and fields, which may quote rows and literals (S5). Inputs need them.
func (b Beat) Public() Beat {
	b.Ended = slices.Clone(b.Ended)
	for i := range b.Ended {
		b.Ended[i].Reason, b.Ended[i].Fields = "", nil
	}
	return b
}

// MaxTrouble is the length limit of Trouble in bytes. Append cuts a longer text (R16).
const MaxTrouble = 512

// Link is the backlog of one outgoing link.
type Link struct {
	Edge  string
	To    link.NodeID // empty where one outbox serves all receivers
	Bytes uint64      // not yet acknowledged
	Full  bool        // the window is closed
}

// NoRoom is a field more, and only where it is set: programs that do not know it read all other heartbeats.
const (
	beatFields = 25
	maxBeat    = 1 << 20
)

// Append appends the wire form.
func (b *Beat) Append(p []byte) []byte {
	fields := beatFields
	if b.NoRoom {
		fields++
	}
	p = wire.AppendArray(p, fields)
	p = wire.AppendString(p, string(b.Node))
	p = wire.AppendBin(p, b.ID.LogID[:])
	p = wire.AppendUint(p, uint64(b.ID.Incarnation))
	p = wire.AppendUint(p, uint64(b.PID))
	p = wire.AppendString(p, string(b.State))
	p = wire.AppendUint(p, uint64(b.Uptime/time.Millisecond))
	for _, v := range []uint64{b.FramesIn, b.BytesIn, b.FramesOut, b.BytesOut, b.Damaged, b.Commits, b.LogBytes} {
		p = wire.AppendUint(p, v)
	}
	p = wire.AppendUint(p, uint64(b.Sessions))
	p = wire.AppendUint(p, uint64(b.Running))
	p = wire.AppendArray(p, len(b.Links))
	for _, l := range b.Links {
		p = wire.AppendArray(p, 4)
		p = wire.AppendString(p, l.Edge)
		p = wire.AppendString(p, string(l.To))
		p = wire.AppendUint(p, l.Bytes)
		p = wire.AppendBool(p, l.Full)
	}
	p = wire.AppendArray(p, len(b.Ended))
	for _, e := range b.Ended {
		p = wire.AppendArray(p, 6)
		p = wire.AppendBin(p, e.ID[:])
		p = wire.AppendBin(p, e.Opener[:])
		p = wire.AppendString(p, e.Owner)
		p = wire.AppendBool(p, e.Failed)
		p = wire.AppendString(p, string(e.Code))
		p = protocol.AppendReason(p, e.Reason, e.Fields)
	}
	p = wire.AppendArray(p, len(b.Waiting))
	for _, id := range b.Waiting {
		p = wire.AppendBin(p, id[:])
	}
	p = wire.AppendString(p, shorten(b.Trouble))
	p = wire.AppendUint(p, b.Mark)
	p = wire.AppendUint(p, uint64(b.MarkAge/time.Millisecond))
	p = wire.AppendString(p, b.Role)
	p = wire.AppendBin(p, b.Session[:])
	p = wire.AppendString(p, b.Stream)
	if p = wire.AppendUint(p, b.Memory); b.NoRoom {
		p = wire.AppendBool(p, true)
	}
	return p
}

// Decode reads the wire form.
func Decode(p []byte) (Beat, error) {
	if len(p) > maxBeat {
		return Beat{}, fmt.Errorf("%w: heartbeat of %d bytes", link.ErrBadFrame, len(p))
	}
	d := wire.NewReader(p)
	fields := d.Array()
	if fields != beatFields && fields != beatFields+1 {
		d.Fail("%d fields", fields)
	}
	b := Beat{Node: link.NodeID(d.String())}
	d.Fixed(b.ID.LogID[:])
	b.ID.Incarnation = link.Incarnation(d.Uint())
	b.PID = int(d.Uint())
	b.State = State(d.String())
	b.Uptime = time.Duration(min(d.Uint(), maxUptime)) * time.Millisecond
	for _, v := range []*uint64{&b.FramesIn, &b.BytesIn, &b.FramesOut, &b.BytesOut, &b.Damaged, &b.Commits, &b.LogBytes} {
		*v = d.Uint()
	}
	b.Sessions, b.Running = int(d.Uint()), int(d.Uint())
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(4)
		b.Links = append(b.Links, Link{Edge: d.String(), To: link.NodeID(d.String()), Bytes: d.Uint(), Full: d.Bool()})
	}
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(6)
		var e role.Ended
		d.Fixed(e.ID[:])
		d.Fixed(e.Opener[:])
		e.Owner, e.Failed, e.Code = d.String(), d.Bool(), protocol.Code(d.String())
		e.Reason, e.Fields = protocol.ReadReason(&d)
		b.Ended = append(b.Ended, e)
	}
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		var id session.ID
		d.Fixed(id[:])
		b.Waiting = append(b.Waiting, id)
	}
	b.Trouble = shorten(d.String())
	b.Mark = d.Uint()
	b.MarkAge = time.Duration(min(d.Uint(), maxUptime)) * time.Millisecond
	b.Role = d.String()
	d.Fixed(b.Session[:])
	b.Stream = d.String()
	if b.Memory = d.Uint(); fields > beatFields {
		b.NoRoom = d.Bool()
	}
	if err := d.Done(); err != nil {
		return Beat{}, fmt.Errorf("%w: heartbeat: %w", link.ErrBadFrame, err)
	}
	return b, nil
}

// shorten cuts a text to MaxTrouble bytes, between two characters.
func shorten(text string) string {
	if len(text) <= MaxTrouble {
		return text
	}
	const mark = "…"
	end := MaxTrouble - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}

const maxUptime = uint64(100 * 365 * 24 * time.Hour / time.Millisecond)
