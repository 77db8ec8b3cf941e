// Package record defines what a node's commits store (N2): one record of the log for each commit.
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
// Each frame has its checksum (R18), so that recovery finds a frame that changed before the log took it.
//
// The life is that of the process that wrote the record. Every frame in the record has the same life (R14).
//
// Names of edges and nodes stand once, in a table; elsewhere their index is used. Payloads stand outside of the meta, so that the log
// gathers them without a copy.
package record

import (
	"posta.dev/posta/link"
	"posta.dev/posta/protocol/session"
)

// version covers records and what roles write into them. Since version 3 an aggregator prunes before its first page leaves. If it repeated
// the calls of a log of version 2, it would continue with other pages than those that have left.
const version = 3

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
	Spill                  // Role moves the session's state to files; payload: their names, with length and checksum
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

// Emptied returns an empty record that reuses the memory of r for its frames and inputs. Every commit needs that memory, and for frames of
// 1 KiB it is a quarter of their bytes.
func (r *Record) Emptied() Record {
	clear(r.Inputs) // let the payloads go
	clear(r.Frames)
	if cap(r.Frames)+cap(r.Inputs) > maxReused {
		return Record{}
	}
	return Record{Inputs: r.Inputs[:0], Frames: r.Frames[:0]}
}

// maxReused bounds the entries whose memory is kept for reuse, so that an idle node keeps about 2 MB at most.
const maxReused = 16 << 10
