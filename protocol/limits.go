package protocol

import "time"

// Version is the "v" of every request and reply. It changes if an old peer would misunderstand a new one. Keys that an old
// peer may ignore do not change it.
const Version = 2

// Limits of what a peer may send. They are far above what a working peer needs, and low enough that a decoded request or
// reply takes only a small multiple of its frame.
const (
	MaxName         = 255                       // bytes of a name: analysis, stream, query, column, parameter, node
	MaxText         = 64 << 10                  // bytes of a value, message, reason, pattern
	MaxFile         = 4096                      // bytes of a file's name
	MaxLine         = 1 << 62                   // lines of a file: a position must not overflow within a chunk
	MaxOffset       = 1 << 62                   // bytes of a file's records: a position must not overflow within a chunk
	MaxPlan         = 128 << 10                 // bytes of an analysis' plan
	PartBits        = 40                        // a place in a file of columns has so many bits for the bytes of a part, and its number above
	MaxHeader       = 1 << 20                   // bytes of a CSV header line
	MaxData         = 16 << 20                  // bytes of records in a chunk
	MaxLanes        = 1024                      // lanes of a session at one input; their numbers are below this
	MaxParams       = 256                       // parameters of an analysis
	MaxStreams      = 256                       // streams of an analysis
	MaxNodes        = 4096                      // endpoints in a list
	MaxParts        = 1024                      // parts in one reply
	MaxColumns      = 1024                      // columns of a query
	MaxListed       = 64 << 10                  // sessions or analyses in one reply
	MaxRanges       = 64 << 10                  // files in one reply that have accepted pieces, and pieces of one file
	MaxRejectedRows = 1024                      // rejected rows listed for a stream
	MaxDuration     = 10 * 365 * 24 * time.Hour // any other duration, so that milliseconds never overflow
)

// LongestPoll bounds how long a node delays its answer to a results request, whatever wait_ms says.
const LongestPoll = 10 * time.Second

// LongestHold bounds how long one hold request keeps an input from opening sessions.
const LongestHold = time.Minute

// PartBytes is about how many bytes of rows a results reply has. A client needs memory for these.
const PartBytes = 1 << 20

const maxDepth = 8 // nesting of unknown values that are skipped
