// Package control is the control socket that every node has, with any transport. It carries heartbeats for medics, inputs and `posta
// status`, and with the transport zmq also acknowledgements.
//
//	PUB control   heartbeats, topic "H"; acknowledgements, topic "A" + the sender that is told + NUL; reports about a session, topic "T" +
//	              its id,
//	              whenever somebody subscribes to them
//	SUB           acknowledgements from every receiver, and heartbeats if the node wants to hear them
//
// Heartbeats never go over a broker: medics watch nodes, and a node whose broker is down is not dead.
package control
