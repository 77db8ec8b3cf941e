package zmqx

import "errors"

var (
	// ErrClosed is returned by every method of a socket after Close, and is the cause of the Disconnected events of
	// the peers that Close has let go.
	ErrClosed = errors.New("zmqx: socket is closed")

	// ErrFull is returned by TrySend when the queue has no room for all of the messages; none of them was taken.
	ErrFull = errors.New("zmqx: send queue is full")

	// ErrUnsendable is returned by the sending methods for a message without parts, or with more or larger parts than
	// Options allow; none of the messages was taken.
	ErrUnsendable = errors.New("zmqx: message cannot be sent")

	// ErrSecondPeer is returned by the second Connect of a PUSH or a REQ socket (R1).
	ErrSecondPeer = errors.New("zmqx: socket has its one peer already")

	// ErrUnknownPeer is returned by methods that take a PeerID when that connection is gone.
	ErrUnknownPeer = errors.New("zmqx: no such peer")

	// ErrEndpoint is returned by Listen and Connect for an address that is neither tcp://host:port nor ipc:///path.
	ErrEndpoint = errors.New("zmqx: bad endpoint")

	// ErrInUse is returned by Listen on an ipc path on which another process listens, or that is not a socket.
	ErrInUse = errors.New("zmqx: endpoint is in use")

	// ErrDisconnected is returned by Req.Do when the connection went away before the reply came.
	ErrDisconnected = errors.New("zmqx: connection lost before the reply")
)

// These are causes: they arrive wrapped in Event.Err, not as return values.
var (
	// ErrHandshake: the peer does not speak ZMTP 3 NULL, is of the wrong socket type, or was too slow.
	ErrHandshake = errors.New("zmqx: handshake failed")

	// ErrRefused: the peer is not allowed, or no longer allowed. It has not proven its name, is another process than the one
	// that was dialled, belongs to another user of this machine, or was refused by Recheck.
	ErrRefused = errors.New("zmqx: peer refused")

	// ErrProtocol: the peer broke the framing after a good handshake.
	ErrProtocol = errors.New("zmqx: protocol violation")

	// ErrTooLarge: the peer announced a frame or message above the limits.
	ErrTooLarge = errors.New("zmqx: frame or message above the limit")

	// ErrStalled: the peer stopped in the middle of a message, or does not read what it is sent.
	ErrStalled = errors.New("zmqx: peer is stuck")

	// ErrSilent: the peer said nothing for Options.MaxSilence.
	ErrSilent = errors.New("zmqx: peer is silent")

	// ErrOverflow: a ROUTER's queue for the peer was full.
	ErrOverflow = errors.New("zmqx: peer does not keep up")

	// ErrTooManyPeers: the listener had Options.MaxPeers peers when another came, and this one had been silent longest.
	ErrTooManyPeers = errors.New("zmqx: too many peers")

	// ErrAbandoned: Req.Do gave up waiting, so the connection was closed: a late reply cannot be mistaken.
	ErrAbandoned = errors.New("zmqx: request was given up")

	// ErrReset: Push.Reset was called.
	ErrReset = errors.New("zmqx: connection was reset by its owner")
)
