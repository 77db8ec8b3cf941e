// Package link holds the two ends of a link as pure state machines, the frames and acknowledgements that pass between
// them, and the one interface that a transport has to offer. It has no socket, no clock, no goroutine and no file.
//
// A link joins one sender node to one receiver node on one edge of the pipeline. Its rules (R1-R10 of the design) in short:
//
//	sender                                         receiver
//	------                                         --------
//	Add     gives the frame the next number (R2)
//	Stored  the commit is on disk: may leave (R3)
//	Take    frames to put on the wire  ──────────▶ Frame   hwm+1 taken, less dropped, more asked again (R4)
//	                                               Stored  the effect and the hwm are on disk (R5)
//	Ack     forget what is acknowledged  ◀──────── Ack     cumulative, idempotent, repeated (R6)
//	Connected, higher incarnation: say hello, wait
//	        for the hwm, go on from hwm+1 (R7)
//
// A hello carries the last number sent. It travels behind the frames on the same ordered connection, so a receiver that
// reads it knows whether frames in front of it were lost, and asks for them. That is why nothing is ever resent on a
// timer: a receiver that is slow, or held back by R11, gets no second copy of what already waits for it.
//
// On an edge of route "all" a frame has one number for all receivers, and each has its own hwm (R10): one [Sender] with
// several peers. On the other routes each receiver has a Sender of its own.
//
// A frame has a checksum over its link, its number and its content (sum.go). [Receiver.Intact] compares it before anything else of the frame is
// believed; what is not intact is dropped, and a resend is asked for (R18).
//
// Each opening of a log has a life, a random number (R14). A frame carries the life that made it, a hwm that of its frame, an acknowledgement
// that of the sender whom it answers. So a sender sees that its log was set back when a receiver has a frame that it never stored, or
// another frame under the number; a receiver sees it when a hello says that its log has acknowledged more than it has. Whoever sees it of
// itself retires its log. Whoever hears from a log that another one has replaced says "superseded", and the process that hears it retires.
//
// Frames that are not acknowledged stay in memory, at most the window of each link (R9); after a restart they are read
// from the log again. That is all that "memory first, log otherwise" (R7) needs, since the window bounds both.
package link
