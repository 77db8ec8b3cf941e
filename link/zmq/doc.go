// Package zmq carries links over ZeroMQ: the product's transport (design §5).
//
// The sockets of a node:
//
//	PULL data       frames of the push edges that lead here; every sender has a PUSH of its own (R1)
//	PUSH            one for each link that leaves here on a push edge
//	PUB  broadcast  frames of the pub edges that leave here; the topic is the edge
//	SUB             one for each pub edge that leads here
//	PUB, SUB        acknowledgements and heartbeats: package control
//
// A frame is two parts, header and payload; on PUB sockets the topic precedes them. A message that cannot be decoded
// is counted and dropped: no node of the cluster sends such messages.
//
// Each receiving socket has one goroutine, which decodes messages and hands events over. While the events channel is
// full it does not read, so that TCP holds the senders back.
package zmq
