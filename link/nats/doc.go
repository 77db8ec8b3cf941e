// Package nats carries links over NATS JetStream, for users who run a server already, and for the comparison. Nodes, log and answers are
// the same as over ZeroMQ; heartbeats and clients stay on the nodes' own sockets (package control).
//
//	input-1                              the server                                        joiner-1
//	───────                              ──────────                                        ────────
//	push edge, a stream for each link
//	  ──publish posta.NAME.input-joiner-facts.input-1.joiner-1──▶ [stream] ──pull──▶ (consumer joiner-1)
//	  ◀──PubAck, when it is stored──                                       ◀──explicit ack, up to the hwm──
//
//	pub edge, a stream for each sender, and a consumer for each receiver
//	  ──publish posta.NAME.input-joiner-reference.input-1──▶ [stream] ─┬─▶ (consumer joiner-1)
//	                                                                   └─▶ (consumer joiner-2)
//	acknowledgements, transient, without a stream
//	  ◀────────────────────── posta.NAME.acks.input-1 ◀──────────────────────
//
// Streams are stored in files; both ends create them. A stream drops its oldest messages above twice the window: at most one window is
// unacknowledged. Dropping them so is cheaper for the server than deleting each message when it is acknowledged.
//
// # What each part answers for
//
//	the frame is in the sender's log      before it is published (R3)
//	the server has it                     when it answers with a PubAck; the number of missing PubAcks is bounded
//	its effect is in the receiver's log   when the receiver's node says so in Acks: only then the message is acknowledged to the server,
//	                                      and to the sender, which keeps the frame in its outbox until then (see package brokered)
//
// Unless its sync_interval is always, the server answers before its disk has a message, and loses up to two minutes when its machine loses
// power. Here that costs time and no rows: lost messages are a hole in the link, and the outbox fills it.
//
// A receiver that connects creates its consumer again, after the last message up to which it has acknowledged all. So all other messages
// are delivered again at once and in order. JetStream itself would deliver them again after a delay, and after newer ones.
package nats
