package zmqx

// Message is one ZeroMQ message: its parts in order, at least one.
type Message [][]byte

// Size is the number of bytes in all parts.
func (m Message) Size() int {
	n := 0
	for _, part := range m {
		n += len(part)
	}
	return n
}

// SplitEnvelope cuts a message at its first empty part: the envelope ends with that part, the body follows. A REQ peer
// sends [empty, body...], a chain of proxies puts identities before the empty part; a reply must start with the same
// envelope. A message without an empty part is all body. Both results are views of m.
func SplitEnvelope(m Message) (envelope, body Message) {
	for i, part := range m {
		if len(part) == 0 {
			return m[: i+1 : i+1], m[i+1:]
		}
	}
	return nil, m
}

// PeerID names one connection of a socket. It is given by the socket, counts up from 1 and is never used again: after a
// reconnect the same process is another peer.
type PeerID uint64

// Received is a message and where it came from.
type Received struct {
	Peer     PeerID
	Endpoint int // which Connect or Listen of the socket, counted from 0
	Msg      Message
}
