// Package forward lets programs that speak plain ZeroMQ reach a cluster with keys (S4). It listens on unix sockets that only this user can
// open, and passes the bytes of each connection on over mutual TLS.
//
// The bytes are ZMTP, which the package does not interpret: greeting, handshake and messages are between the program and the node. So every
// kind of socket works, and a reply can only go back to the program that asked. Each connection has two goroutines with a buffer each.
// While one side does not read, nothing more is read from the other side. If a connection ends, the program dials again, as ZeroMQ does by
// itself.
//
// What it never does: keep a message, answer in a node's name, or let in another user of the machine.
package forward
