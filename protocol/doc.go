// Package protocol defines the requests and replies between clients and nodes. Each is one msgpack map with string keys in one ZeroMQ
// frame. docs/protocol.md describes them for clients in other languages. A test compares the bytes in docs/protocol-bytes.md with this
// encoder.
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
// and a client's is the mirror image. Every request may be repeated, and the same request gets the same answer. So a client that gets no
// reply closes its socket and sends the request again.
//
// Nodes have duties that this package cannot enforce. A node gives the same answer to the same request, even if the request is repeated
// while the first one is still being made durable. In this case it answers only the last one, because the sockets of the others are closed.
// A node answers `ok` to cancel and close for a session that it does not know. Inputs answer pings while a session is open or its results
// are kept. Outputs number parts from 1 without gaps, and a row has the same place in its query at every output.
//
// Requests and replies are written and read by hand (codec.go, over package internal/wire). Rejected here is the general library,
// github.com/vmihailenco/msgpack: it would cost reflection for each struct, and it allocates as much as a length from the network asks for,
// so five bytes can take gigabytes. It writes what is neither hot nor read from strangers, the --events stream and the files of --journal,
// and checks this package in tests.
//
// The package never trusts a length that a peer sent: the limits in limits.go and the size of the frame bound what it allocates. It skips
// unknown keys, so that a newer peer can send more. It does no I/O, has no clock, and never panics on input.
package protocol
