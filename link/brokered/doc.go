// Package brokered holds what transports over a broker have in common, and nothing that knows a broker. A transport embeds [Transport], gives its
// Start two functions that make a connection and run sessions over it, and moves bytes between the broker and these:
//
//	Transport      link.Transport but for the broker: events, acknowledgements, heartbeats, Close, reconnecting with backoff
//	Outgoing       the sending end of a link, or of all links of a pub edge
//	Incoming       the receiving end of a link
//	Serve, Repeat  sessions for as long as a connection stands
//	Pack, Unpack   several frames of a link as one message
//	SendQueue      frames that the node has sent and the broker has not been given yet; never blocks the node's loop
//	Unacked        the deliveries of a link that the broker still holds, and which of them it may forget: those whose effect is on disk
//	HelloPacer     how often a hello may go into a queue that perhaps nobody reads
//	PendingAcks    the acknowledgements that are to be published, the last of each link
//	Outage         says once that the broker is away, and once that it is back
//
// # What the broker is trusted with
//
// Nothing. A frame stays in its sender's outbox, and so in the sender's log, until the receiver says that its effect is on disk (R6), as
// with ZeroMQ. The way that was turned down is to release it when the broker confirms it: windows would move sooner by one hop, but the
// guarantee would then be the broker's, as good as its settings and its disk, and a broker that is restored from a copy would lose rows in
// silence. As it is, a broker may lose, repeat and reorder what it likes: the link's rules (R4, R7) mend it, and it costs time alone.
//
// What the broker does for it: it holds frames while their receiver is away, so that the sender's disk is not read again; it
// gives them again when a receiver died before its commit; and nodes need not reach each other.
package brokered
