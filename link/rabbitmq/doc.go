// Package rabbitmq carries links over RabbitMQ, for users who run that broker already, and for the comparison. Nodes, log and answers are
// the same as over ZeroMQ; heartbeats and clients stay on the nodes' own sockets (package control).
//
//	input-1                                the broker                                          joiner-1
//	───────                                ──────────                                          ────────
//	push edge, a queue for each link, by the default exchange
//	  channel ──persistent, mandatory──▶ [posta.NAME.input-joiner-facts.input-1.joiner-1] ──prefetch──▶ channel
//	          ◀──publisher confirm──────                                        ◀──ack of all up to the hwm──
//
//	pub edge, a queue for each receiver, behind one fanout exchange for each sender
//	  channel ──▶ (posta.NAME.input-joiner-reference.input-1) ─┬─▶ […input-1.joiner-1] ──▶ channel
//	                                                           └─▶ […input-1.joiner-2] ──▶ joiner-2
//	acknowledgements, transient
//	  channel ◀── [exclusive queue of this connection] ◀─ key input-1 ─ (posta.NAME.acks) ◀── channel
//
// Queues and exchanges of frames are durable, classic or quorum as the topology says. Both ends declare them, so either may come
// first. A node has two connections, because a broker that is short of memory stops reading from its publishers, and must not stop
// reading the acknowledgements of its consumers; on them a channel for each link, so that links do not wait for each other.
//
// # What each part answers for
//
//	the frame is in the sender's log      before it is published (R3)
//	the broker has it                     when it confirms: until then it counts as unconfirmed, and those are bounded
//	its effect is in the receiver's log   when the receiver's node says so in Acks: only then is the broker told to forget it,
//	                                      and the sender, which keeps it in its outbox until then (see package brokered)
//
// So a broker that is killed, wiped or restored costs time. When the connection breaks, or a channel, or the broker says that it did not
// take a message, the transport reports Connected once it stands again: the sender says hello behind whatever is still queued, hears the
// hwm, goes on behind it (R7), and what comes twice is dropped (R4). Queues may hold frames of an earlier cluster of the same name:
// another log id, or numbers that were taken long ago. The receiver drops them by the same rules.
//
// # What is bounded
//
// Memory of a sender by the window of each link. A queue by x-max-length-bytes, twice a window and a frame: what is more was sent twice, and goes from
// the front. A receiver keeps two windows of each link and drops what is more. Before that, RabbitMQ bounds its prefetch in messages alone, and those
// may be as large as limits.frame; but no more than a full queue and one window can come. A sender sends again only after a word of the receiver
// (R7), and a receiver that takes nothing in says nothing. To prefetch a window of the largest frames was turned down: with default limits that is
// two messages, and small ones would wait for an fsync each.
//
// Hellos become rare while nobody reads them. Send and Acks never wait for the broker: they hand over
// to the goroutines that talk to it.
//
// Goroutines: one for each connection, which makes it again with backoff; one for each link on it, and one for acknowledgements
// out and one for those in. All end with Close.
package rabbitmq
