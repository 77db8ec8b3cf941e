// Package protocol is what a client and a node say to each other: requests and replies, each one msgpack map with string
// keys in one ZeroMQ frame. docs/protocol.md describes them for clients in other languages; the bytes shown there are
// compared with this encoder by a test.
//
// The words:
//
//	request   what a client says on a REQ socket: open, chunk, end, ping, results, cancel, close, sessions, info, hold
//	reply     what a node answers: ok, opened, results, sessions, info, or error with a [Code]
//	lane      one REQ socket of a client at one input; its chunks are numbered 1, 2, 3, … over all streams of the session
//	part      a piece of an answer: some rows of one query, or the rows that were rejected
//
// A node's loop is
//
//	req, err := protocol.DecodeRequest(frame)   // views into frame, no copy of the data
//	reply := …                                  // after it is durable (R3)
//	out = reply.Append(out[:0])
//
// and a client's is the mirror image. Every request may be said again: the same words get the same answer, so that a client
// which hears nothing closes its socket and repeats itself.
//
// What a node owes its clients, and no encoder can see to: the same answer to the same words, also when they come again while
// the first time is still being made durable (then the last one who asked is answered; the others have hung up); `ok` to
// cancel and close for a session it does not know; a ping answered by inputs for as long as a session is open or its
// results are kept; parts numbered from 1 without holes, with each row's place in its query the same at every output.
//
// Requests and replies are written and read by hand (codec.go, over package internal/wire). A general library,
// github.com/vmihailenco/msgpack, is used by tests alone, to check that it reads what we write and the other way round. In a node it
// would cost reflection for each struct, and it allocates what a length from the network asks for: five bytes can take gigabytes.
//
// The package never believes a length that a peer sent: what it allocates is bounded by the limits in limits.go and by the
// frame. Unknown keys are passed over, so that a newer peer can say more. It does no I/O, knows no clock, and never panics
// on input.
package protocol
