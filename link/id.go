package link

import (
	"encoding/hex"

	"posta.dev/posta/topology"
)

// NodeID names a node: "joiner-1".
type NodeID = topology.NodeID

// Seq numbers the frames of a link: 1, 2, 3, … without holes (R2). Zero is "none yet".
type Seq uint64

// Incarnation counts how often a node's data directory was opened.
type Incarnation uint64

// LogID is the random name of a node's data directory: a wiped directory gets a new one (R8). Zero is "not known".
type LogID [16]byte

// String returns the first eight hexadecimal digits, enough for people to tell two apart.
func (l LogID) String() string { return hex.EncodeToString(l[:4]) }

// Life is the random number of one opening of a data directory (R14). An incarnation may come twice, because a directory can be set back to
// a former state; a life never does. Zero is "not known".
type Life uint64

// Identity names a node's log and the opening of it that is running.
type Identity struct {
	LogID       LogID
	Incarnation Incarnation
	Life        Life
}

// over reports whether i is a superseded opening of the log of present: one with a lower incarnation, or with the same
// incarnation and another life (R14).
func (i Identity) over(present Identity) bool {
	return i.Incarnation < present.Incarnation || i.Incarnation == present.Incarnation && i.Life != present.Life
}
