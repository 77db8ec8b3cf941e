package zmqx

import "errors"

var (
	// errClosed is returned by every method of a socket after Close, and is the cause of the Disconnected events of
	// the peers that Close has let go.
	errClosed = errors.New("zmqx: socket is closed")

	// errFull is returned by TrySend when the queue has no room for all of the messages; none of them was taken.
	errFull = errors.New("zmqx: send queue is full")

	// ErrUnsendable is returned by the sending methods for a message without parts, or with more or larger parts than
	// Options allow; none of the messages was taken.
	ErrUnsendable = errors.New("zmqx: message cannot be sent")

	// errSecondPeer is returned by the second Connect of a PUSH or a REQ socket (R1).
	errSecondPeer = errors.New("zmqx: socket has its one peer already")

	// errUnknownPeer is returned by methods that take a PeerID when that connection is gone.
	errUnknownPeer = errors.New("zmqx: no such peer")

	// errEndpoint is returned by Listen and Connect for an address that is neither tcp://host:port nor ipc:///path.
	errEndpoint = errors.New("zmqx: bad endpoint")

	// errInUse is returned by Listen on an ipc path on which another process listens, or that is not a socket.
	errInUse = errors.New("zmqx: endpoint is in use")

	// errDisconnected is returned by Req.Do when the connection went away before the reply came.
	errDisconnected = errors.New("zmqx: connection lost before the reply")
)

// These are causes: they arrive wrapped in Event.Err, not as return values.
var (
	// errHandshake: the peer does not speak ZMTP 3 NULL, is of the wrong socket type, or was too slow.
	errHandshake = errors.New("zmqx: handshake failed")

	// ErrRefused: the peer is not allowed, or no longer allowed. It has not proven its name, is another process than the one
	// that was dialled, belongs to another user of this machine, or was refused by Recheck.
	ErrRefused = errors.New("zmqx: peer refused")

	// errProtocol: the peer broke the framing after a good handshake.
	errProtocol = errors.New("zmqx: protocol violation")

	// errTooLarge: the peer announced a frame or message above the limits.
	errTooLarge = errors.New("zmqx: frame or message above the limit")

	// errStalled: the peer stopped in the middle of a message, or does not read what it is sent.
	errStalled = errors.New("zmqx: peer is stuck")

	// ErrSilent: the peer said nothing for Options.MaxSilence.
	ErrSilent = errors.New("zmqx: peer is silent")

	// errOverflow: a ROUTER's queue for the peer was full.
	errOverflow = errors.New("zmqx: peer does not keep up")

	// errTooManyPeers: the listener had Options.MaxPeers peers when another came, and this one had been silent longest.
	errTooManyPeers = errors.New("zmqx: too many peers")

	// errAbandoned: Req.Do gave up waiting, so the connection was closed: a late reply cannot be mistaken.
	errAbandoned = errors.New("zmqx: request was given up")

	// errReset: Push.Reset was called.
	errReset = errors.New("zmqx: connection was reset by its owner")
)
