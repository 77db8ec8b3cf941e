// Package link holds the two ends of a link as pure state machines, the frames and acknowledgements that pass between them, and the
// interface of a transport. It uses no socket, clock, goroutine or file.
//
// A link joins one sender node to one receiver node on one edge of the pipeline. Its rules (R1-R10 of the design) in short:
//
//	sender                                         receiver
//	------                                         --------
//	Add     gives the frame the next number (R2)
//	Stored  the commit is on disk: may leave (R3)
//	Take    frames to put on the wire  ──────────▶ Frame   hwm+1 taken, less dropped, more asked again (R4)
//	                                               Stored  the effect and the hwm are on disk (R5)
//	Ack     drop what is acknowledged    ◀──────── Ack     cumulative, idempotent, repeated (R6)
//	Connected, higher incarnation: say hello, wait
//	        for the hwm, continue from hwm+1 (R7)
//
// A hello carries the last number sent. It travels behind the frames on the same ordered connection. So a receiver
// that reads it knows whether frames before it were lost, and asks for them. That is why no timer ever resends frames:
// a receiver that is slow, or held back by R11, gets no second copy of frames that already wait for it.
//
// On an edge of route "all" a frame has one number for all receivers, and each has its own hwm (R10): one [Sender] with
// several peers. On the other routes each receiver has a Sender of its own.
//
// A frame has a checksum over its link, its number and its content (sum.go). [Receiver.Intact] compares it before any field of the frame is
// used. A frame that is not intact is dropped, and the receiver asks for a resend (R18).
//
// Each opening of a log has a life, a random number (R14). A frame carries the life that made it, a hwm carries the life of its frame, and
// an acknowledgement carries the life of the sender that it answers. So a sender detects that its log was set back when a receiver has a
// frame that the sender never stored, or another frame under the same number. A receiver detects it when a hello says that the receiver's
// log has acknowledged more than it holds. A node that detects this of its own log retires the log. A node that gets a message from a
// superseded log answers "superseded", and the process that gets this answer retires its log.
//
// Unacknowledged frames stay in memory, at most the window of each link (R9); after a restart they are read from the log again. This is how
// "memory first, log otherwise" (R7) is kept; the window bounds both.
package link
