package zmqx

// Message is one ZeroMQ message: its parts in order, at least one.
type Message [][]byte

// Size returns the number of bytes in all parts.
func (m Message) Size() int {
	n := 0
	for _, part := range m {
		n += len(part)
	}
	return n
}

// PeerID names one connection of a socket. It is given by the socket, counts up from 1 and is never used again: after a
// reconnect the same process is another peer.
type PeerID uint64

// Received is a message and where it came from.
type Received struct {
	Peer     PeerID
	From     string // the name that the peer has proven (Options.TLS); "" on plain sockets
	Endpoint int    // which Connect or Listen of the socket, counted from 0
	Msg      Message
	TooLarge uint64 // bytes of a message above the limits, which was thrown away; Msg is nil then. Only with Options.ReportTooLarge.
}
