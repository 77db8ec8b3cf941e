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
// Queues and exchanges of frames are durable; queues are classic or quorum, as the topology says. Both ends declare them, so either may
// come first. A node has two connections, because a broker that is short of memory stops reading from its publishers, but must still read
// the acknowledgements of its consumers. On a connection each link has a channel of its own, so that links do not wait for each other.
//
// # What each part answers for
//
//	the frame is in the sender's log      before it is published (R3)
//	the broker has it                     when it confirms: until then the frame counts as unconfirmed, and the number of those is bounded
//	its effect is in the receiver's log   when the receiver's node says so in Acks: only then it is acknowledged to the broker
//	                                      and to the sender, which keeps it in its outbox until then (see package brokered)
//
// So a broker that is killed, wiped or restored only costs time. When a connection or a channel breaks, or the broker does not accept a
// message, the transport reports Connected after it has connected again. The sender then sends a hello after everything that is still
// queued, hears the hwm and continues after it (R7), and repeated frames are dropped (R4). Queues may hold frames of an earlier cluster
// with the same name: they have another log id, or old numbers, and the receiver drops them by the same rules.
//
// # What is bounded
//
// A sender's memory is bounded by the window of each link. A queue is bounded by x-max-length-bytes, twice a window and a frame: more can
// only be repeated frames, and the oldest are dropped. A receiver keeps two windows of each link and drops more than that. RabbitMQ bounds
// prefetch only in messages, which may be as large as limits.frame; but no more than a full queue and one window can arrive. A sender sends
// again only after an acknowledgement (R7), and a receiver that takes nothing in sends none. A prefetch of one window of the largest frames
// was rejected: with default limits that is two messages, and small ones would wait for an fsync each.
//
// Hellos become rare while nobody reads them. Send and Acks never wait for the broker: they pass messages to the goroutines that talk to
// it.
//
// Goroutines: one for each connection, which reconnects with backoff; one for each link on it; one each to publish and to read
// acknowledgements. All end with Close.
package rabbitmq
