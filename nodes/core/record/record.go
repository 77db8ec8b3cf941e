// Package record is what a node's commits store (N2): one record of the log for each.
//
// A record on disk:
//
//	0        4            4+n
//	┌────────┬────────────┬──────────────────────────────────────────┐
//	│ n u32  │ meta       │ payloads, one after the other, in the    │
//	│ LE     │ msgpack    │ order in which the meta mentions them    │
//	└────────┴────────────┴──────────────────────────────────────────┘
//	meta = [version, life, names, hwms, progress, inputs, frames]
//
// A frame has its checksum (R18), so that one which changed before the log took it is found when it is read.
//
// The life is that of the process that wrote the record, and so that of every frame in it (R14).
//
// Names of edges and nodes stand once, in a table; elsewhere their index is used. Payloads stand outside of the meta, so that the log
// gathers them without a copy.
package record

import (
	"posta.dev/posta/link"
	"posta.dev/posta/protocol/session"
)

const version = 2

// Record is one commit: the high-water marks that moved, how far each outbox is, the calls that changed state, the frames produced.
type Record struct {
	Life     link.Life // that wrote it, and made its frames (R14); zero in a snapshot
	Hwms     []link.Hwm
	Progress []link.Progress // of every outbox of the topology
	Inputs   []Input
	Frames   []Frame
}

// Op says what a recorded input does when recovery repeats it.
type Op uint8

// The operations. Their numbers are on disk.
const (
	Open     Op = iota + 1 // a session starts; payload: its announcement
	Data                   // Role takes Payload
	Ended                  // a sender has ended a stream
	End                    // Role's End for a stream
	More                   // Role's More
	Drop                   // the session leaves; payload: its outcome
	Private                // a gateway's own change
	Join                   // one more sender announces a session that runs
	Rewired                // no call: from here on the node has other links than before
	TakeOver               // the session has another opener; payload: its announcement
)

// Input is a call that changed durable state.
type Input struct {
	Op      Op
	Role    int
	Session session.ID
	Stream  int
	Edge    string // of Open, Join, Ended
	From    link.NodeID
	Payload []byte
}

// Frame is a frame that a commit made durable, and where it goes.
type Frame struct {
	Edge  string
	To    link.NodeID // empty where one outbox serves all receivers
	Frame link.Frame  // without Edge, From, ID and Life, which the log's directory, Edge and the record tell; with its checksum (R18)
}

// Emptied returns a record that uses the memory of r for its frames and inputs again. Every commit needs that memory, and for frames of
// 1 KiB it is a quarter of their bytes.
func (r *Record) Emptied() Record {
	clear(r.Inputs) // let the payloads go
	clear(r.Frames)
	if cap(r.Frames)+cap(r.Inputs) > maxReused {
		return Record{}
	}
	return Record{Inputs: r.Inputs[:0], Frames: r.Frames[:0]}
}

// maxReused bounds what an idle node keeps: some 2 MB.
const maxReused = 16 << 10
