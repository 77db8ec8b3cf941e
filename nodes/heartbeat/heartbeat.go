// Package heartbeat is what a node says of itself, several times a second, on its control socket: that it lives, which log
// it has opened for the how manieth time, what it does, and what it is waiting for (N8). Medics, inputs and `posta status`
// listen.
package heartbeat

import (
	"fmt"
	"time"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
)

// State is what a node is doing.
type State string

// The states. A node that is Running and takes in nothing while its senders have a backlog shows as Blocked on a link, or
// is stuck: progress is visible in the counters.
const (
	Recovering State = "recovering"
	Running    State = "running"
	Blocked    State = "blocked" // on the links whose backlog is Full
	DiskFull   State = "disk full"
	Draining   State = "draining"
	Retiring   State = "retiring" // its log was set back: it puts it aside and begins an empty one (R14)
)

// Beat is one heartbeat.
type Beat struct {
	Node     link.NodeID
	ID       link.Identity
	PID      int
	State    State
	Uptime   time.Duration
	FramesIn uint64 // since the start, like all counters
	BytesIn  uint64
	FramesOut,
	BytesOut uint64
	Commits  uint64
	LogBytes uint64 // size of the log now
	Sessions int    // with state in the node
	Running  int    // that hold a place, at an input; unfinished answers, at an output
	Links    []Link
	Ended    []role.Ended // at outputs: sessions that need no more uploading
}

// Link is the backlog of one outgoing link.
type Link struct {
	Edge  string
	To    link.NodeID // empty where one outbox serves all receivers
	Bytes uint64      // not yet acknowledged
	Full  bool        // the window is closed
}

const (
	beatFields = 17
	maxBeat    = 1 << 20
)

// Append appends the wire form.
func (b *Beat) Append(p []byte) []byte {
	p = wire.AppendArray(p, beatFields)
	p = wire.AppendString(p, string(b.Node))
	p = wire.AppendBin(p, b.ID.LogID[:])
	p = wire.AppendUint(p, uint64(b.ID.Incarnation))
	p = wire.AppendUint(p, uint64(b.PID))
	p = wire.AppendString(p, string(b.State))
	p = wire.AppendUint(p, uint64(b.Uptime/time.Millisecond))
	for _, v := range []uint64{b.FramesIn, b.BytesIn, b.FramesOut, b.BytesOut, b.Commits, b.LogBytes} {
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
		p = wire.AppendArray(p, 5)
		p = wire.AppendBin(p, e.ID[:])
		p = wire.AppendBin(p, e.Opener[:])
		p = wire.AppendBool(p, e.Failed)
		p = wire.AppendString(p, string(e.Code))
		p = wire.AppendString(p, e.Reason)
	}
	return wire.AppendUint(p, 0) // room for a later version's length
}

// Decode reads the wire form.
func Decode(p []byte) (Beat, error) {
	if len(p) > maxBeat {
		return Beat{}, fmt.Errorf("%w: heartbeat of %d bytes", link.ErrBadFrame, len(p))
	}
	d := wire.NewReader(p)
	d.ArrayOf(beatFields)
	b := Beat{Node: link.NodeID(d.String())}
	d.Fixed(b.ID.LogID[:])
	b.ID.Incarnation = link.Incarnation(d.Uint())
	b.PID = int(d.Uint())
	b.State = State(d.String())
	b.Uptime = time.Duration(min(d.Uint(), maxUptime)) * time.Millisecond
	for _, v := range []*uint64{&b.FramesIn, &b.BytesIn, &b.FramesOut, &b.BytesOut, &b.Commits, &b.LogBytes} {
		*v = d.Uint()
	}
	b.Sessions, b.Running = int(d.Uint()), int(d.Uint())
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(4)
		b.Links = append(b.Links, Link{Edge: d.String(), To: link.NodeID(d.String()), Bytes: d.Uint(), Full: d.Bool()})
	}
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(5)
		var e role.Ended
		d.Fixed(e.ID[:])
		d.Fixed(e.Opener[:])
		e.Failed, e.Code, e.Reason = d.Bool(), protocol.Code(d.String()), d.String()
		b.Ended = append(b.Ended, e)
	}
	d.Uint()
	if err := d.Done(); err != nil {
		return Beat{}, fmt.Errorf("%w: heartbeat: %w", link.ErrBadFrame, err)
	}
	return b, nil
}

const maxUptime = uint64(100 * 365 * 24 * time.Hour / time.Millisecond)
