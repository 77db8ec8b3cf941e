// Package brokered has the common parts of transports over a broker, without code for any particular broker. A transport embeds
// [Transport], gives its Start two functions that make a connection and run sessions over it, and moves bytes between the broker and these:
//
//	Transport      link.Transport except for the broker: events, acknowledgements, heartbeats, Close, reconnecting with backoff
//	Outgoing       the sending end of a link, or of all links of a pub edge
//	Incoming       the receiving end of a link
//	Serve, Repeat  sessions while a connection lasts
//	Pack, unpack   several frames of a link as one message
//	sendQueue      frames from the node that are not given to the broker yet; it never blocks the node's loop
//	unacked        the deliveries of a link that the broker still holds, and which of them it may forget: those whose effect is on disk
//	helloPacer     how often a hello may be put into a queue that perhaps nobody reads
//	pendingAcks    the acknowledgements that are to be published, the last of each link
//	Outage         logs once that the broker is away, and once that it is back
//
// # What the broker is trusted with
//
// Nothing. A frame stays in its sender's outbox, and so in the sender's log, until the receiver says that its effect is on disk (R6), as
// with ZeroMQ. Releasing it at the broker's confirmation was rejected: windows would move one hop sooner, but the guarantee would depend on
// the broker's settings and disk, and a broker that is restored from a backup would silently lose rows. So a broker may lose, repeat and
// reorder messages: the link's rules (R4, R7) repair that, and it only costs time.
//
// What the broker is useful for: it holds frames while their receiver is away, so the sender need not read its disk again. It delivers them
// again if a receiver died before its commit. And nodes need no connections to each other.
package brokered
