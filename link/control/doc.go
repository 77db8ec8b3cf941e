// Package control is the control socket that every node has, whatever carries its frames: heartbeats for medics, inputs and
// `posta status`, and with the transport zmq the acknowledgements too.
//
//	PUB control   heartbeats, topic "H"; acknowledgements, topic "A" + the sender that is told + NUL
//	SUB           acknowledgements from every receiver, and heartbeats if the node wants to hear them
//
// Heartbeats do not go over a broker where there is one: medics watch nodes, and a node whose broker is away is not dead.
package control
