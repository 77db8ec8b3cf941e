// Package forward lets programs that speak plain ZeroMQ reach a cluster with keys (S4): it listens on unix sockets of this user alone and passes the
// bytes of each connection on over mutual TLS.
//
// What it passes is ZMTP, of which it knows nothing: greeting, handshake and messages are between the program and the node, so every kind of socket works,
// and a reply can only go where its question came from. A connection is two goroutines with a buffer each, and what one side does not read is not
// read from the other. A program whose connection ends dials again, as ZeroMQ does by itself.
//
// What it never does: keep a message, answer in a node's name, or let in another user of the machine.
package forward
