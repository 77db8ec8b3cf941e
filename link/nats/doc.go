// Package nats carries links over NATS JetStream, for users who run a server already, and for the comparison. Nodes, log and answers are the
// same as over ZeroMQ; heartbeats and clients stay on the nodes' own sockets (package control).
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
// Streams are files; both ends make them. They drop from the front what is above twice the window: frames that are not acknowledged are
// one window at most. That is cheaper for the server than to delete each message when it is acknowledged.
//
// # What each part answers for
//
//	the frame is in the sender's log      before it is published (R3)
//	the server has it                     when it answers with a PubAck; those that are awaited are bounded
//	its effect is in the receiver's log   when the receiver's node says so in Acks: only then the message is acknowledged to the server,
//	                                      and to the sender, which keeps the frame in its outbox until then (see package brokered)
//
// Unless its sync_interval is always, the server answers before its disk has a message, and loses up to two minutes when its machine loses
// power. Here that costs time and no row: what is lost is a hole in the link, and the outbox fills it.
//
// A receiver that connects makes its consumer anew, behind the last message that it has acknowledged without a hole. So everything else
// comes again, in order and at once; JetStream itself would give it again after a time, and behind what is newer.
package nats
