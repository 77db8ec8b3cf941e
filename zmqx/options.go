package zmqx

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options are the settings of one socket. The zero value of each field means its default. They are copied at
// construction; changing them later has no effect.
type Options struct {
	// MaxFrame is the largest part accepted or sent, in bytes. Default 64 MiB. If it is too small, honest peers are refused (disconnected);
	// ReceiveBytes grows with it.
	MaxFrame int
	// MaxParts is the largest number of parts of a message. Default 16. Each part costs 24 bytes beside its own.
	MaxParts int
	// MaxMessage is the largest message, all parts together, in bytes. Default MaxFrame + 64 KiB.
	MaxMessage int

	// ReportTooLarge reads messages above MaxFrame or MaxMessage and throws them away, and hands their size to the receiver, which can
	// answer. Default: the peer is disconnected. Nothing is kept of them; one of more than 1 GiB ends the connection in any case.
	ReportTooLarge bool

	// ReceiveBytes bounds the memory of messages above 64 KiB that are being received, or that their peer's reader holds for Recv, over all
	// peers of the socket. Default twice MaxMessage and 16 MiB; it must be twice MaxMessage at least. At the bound a message waits until there
	// is room, and TCP holds its sender back; a sender that is slower than 1 MiB/s meanwhile, after ReadStall, is disconnected. Too small
	// makes large messages wait for each other; large values are memory that strangers can hold. Beside it are two batches that lie ready for
	// Recv, and 128 KiB for each peer, 320 KiB with TLS.
	ReceiveBytes int
	// Known reports whether a message shows that its sender is one of ours. Half of ReceiveBytes is for known peers alone, and
	// strangers are evicted before them (MaxPeers). It is called with every message of a peer until it says true, from the
	// goroutines of peers, with the message as it was on the wire; it must not keep it. Default: all are known.
	Known func(Message) bool

	// TLS puts all connections of the socket into TLS, over tcp and ipc alike, where both sides prove who they are before anything else is
	// said; a peer that does not speak it is refused. Received and Event then carry the peer's name, ConnectTo has to be used instead of
	// Connect, and every peer is known. Default: plain ZMTP, for unix sockets and for peers that do not need to be believed.
	TLS TLS

	// QueueMessages bounds what waits for one peer, in messages. Default 16384. At 1 every message is a system call; a large value costs only
	// 24 bytes per message.
	QueueMessages int
	// QueueBytes bounds the same in bytes. Default 16 MiB. A single message larger than this still passes, alone. If it is too small, a fast
	// connection idles (keep it above bandwidth × delay); if it is large, a stuck peer can hold that much memory.
	QueueBytes int

	// HandshakeTimeout is for the whole of connecting, TLS and greeting. Default 2 s. Below the round trip nothing ever
	// connects; a large value lets silent clients occupy MaxHandshakes for long (they are evicted when it is full).
	HandshakeTimeout time.Duration
	// ReadStall is how long a peer may take for the next 4 KiB (or the end) of a message it has begun. Default 10 s. If it is too small, peers
	// on slow lines are dropped; if it is large, half frames keep their memory for that long.
	ReadStall time.Duration
	// WriteTimeout is how long one write (at most about 1 MiB) may take before the peer counts as stuck and is disconnected. Negative: never.
	// Default 10 s, but never for PUSH: a PULL that does not read is back-pressure (R9), which may rightly last for minutes (R11). It holds up
	// only its own queue; a caller that knows better calls Reset.
	WriteTimeout time.Duration
	// KeepAlive is the idle time after which TCP asks whether the other host is still there; three questions without an
	// answer, a third of this apart, end the connection. Default 15 s, negative: off. tcp only.
	KeepAlive time.Duration
	// MaxSilence is how long a peer may say nothing at all before its connection counts as dead and is dialled again. Default 0: no limit. It
	// is for publishers that speak regularly, and may move to another address without closing anything: TCP itself detects that after
	// KeepAlive if it has nothing to send, and after a quarter of an hour if it has. If it is only a few of the publisher's intervals, every
	// hiccup causes a reconnect; if it is long, a publisher that moved stays unheard for that long.
	MaxSilence time.Duration

	// BackoffMin and BackoffMax bound the pause between attempts to connect: the pause doubles from one to the other, is cut by a random part
	// of up to a half, and starts again after a good handshake. Defaults 10 ms and 1 s. With a short maximum a restarted peer is found sooner,
	// and a dead peer causes more attempts.
	BackoffMin, BackoffMax time.Duration

	// Linger is how long Close may continue writing what is queued for peers that are connected (PUSH, PUB, ROUTER). Default 0: queued
	// messages are dropped. Long values delay shutdown by that much when a connected peer does not read.
	Linger time.Duration

	// MaxHandshakes bounds connections per listener that have not finished their handshake. Default 64. At the bound, the newest connection
	// evicts the oldest one: an honest one takes milliseconds.
	MaxHandshakes int
	// MaxPeers bounds the peers of one listener. Default 1024. A further peer evicts the one that was silent longest; peers that never spoke
	// are evicted first, and strangers before known peers. If it is too small, honest peers evict each other; each peer costs two goroutines.
	MaxPeers int

	// Accepts bounds the file descriptors that the connections of all listeners take, over all sockets that share it. Default: no bound.
	Accepts *AcceptLimit

	// MaxSubscriptions bounds the subscriptions of one subscriber at a PUB. Default 1024. A subscriber that wants more is
	// disconnected.
	MaxSubscriptions int
	// MaxTopic bounds the length of one subscription, in bytes. Default 255.
	MaxTopic int

	// OnEvent is called with connects and disconnects, one at a time and in order, from a goroutine of the socket. It may send and receive,
	// but must not call Close. A slow one delays only peers that come and go.
	OnEvent func(Event)
	// Subscribed is called with each prefix that a subscriber of a PUB asks for, repeats included, from goroutines of peers. It must not
	// block.
	Subscribed func(prefix string)
	// Logger gets refused and failed connections at debug level. Default: discard.
	Logger *slog.Logger
}

const mib = 1 << 20

// withDefaults fills what is zero and checks the rest. push is for PUSH, see WriteTimeout.
func (o Options) withDefaults(push bool) (Options, error) {
	var errs []error
	setting(&errs, "MaxFrame", &o.MaxFrame, 64*mib)
	setting(&errs, "MaxParts", &o.MaxParts, 16)
	setting(&errs, "MaxMessage", &o.MaxMessage, o.MaxFrame+64<<10)
	setting(&errs, "ReceiveBytes", &o.ReceiveBytes, 2*o.MaxMessage+16*mib)
	setting(&errs, "QueueMessages", &o.QueueMessages, 16384)
	setting(&errs, "QueueBytes", &o.QueueBytes, 16*mib)
	setting(&errs, "HandshakeTimeout", &o.HandshakeTimeout, 2*time.Second)
	setting(&errs, "ReadStall", &o.ReadStall, 10*time.Second)
	setting(&errs, "MaxSilence", &o.MaxSilence, 0)
	setting(&errs, "BackoffMin", &o.BackoffMin, 10*time.Millisecond)
	setting(&errs, "BackoffMax", &o.BackoffMax, max(time.Second, o.BackoffMin))
	setting(&errs, "Linger", &o.Linger, 0)
	setting(&errs, "MaxHandshakes", &o.MaxHandshakes, 64)
	setting(&errs, "MaxPeers", &o.MaxPeers, 1024)
	setting(&errs, "MaxSubscriptions", &o.MaxSubscriptions, 1024)
	setting(&errs, "MaxTopic", &o.MaxTopic, 255)
	if o.WriteTimeout == 0 && !push {
		o.WriteTimeout = 10 * time.Second
	}
	if o.KeepAlive == 0 {
		o.KeepAlive = 15 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MaxMessage < o.MaxFrame {
		errs = append(errs, fmt.Errorf("zmqx: option MaxMessage (%d) is below MaxFrame (%d): raise it, or lower MaxFrame", o.MaxMessage,
			o.MaxFrame))
	}
	if o.ReceiveBytes/2 < o.MaxMessage {
		errs = append(errs, fmt.Errorf("zmqx: option ReceiveBytes (%d) is below twice MaxMessage (%d): raise it, or lower MaxMessage",
			o.ReceiveBytes, o.MaxMessage))
	}
	if o.BackoffMax < o.BackoffMin {
		errs = append(errs, fmt.Errorf("zmqx: option BackoffMax (%v) is below BackoffMin (%v)", o.BackoffMax, o.BackoffMin))
	}
	return o, errors.Join(errs...)
}

// setting fills in the default of an option that is 0, and refuses a negative one.
func setting[T int | time.Duration](errs *[]error, name string, field *T, value T) {
	if *field < 0 {
		*errs = append(*errs, fmt.Errorf("zmqx: option %s is %d: leave it at 0 for the default or make it positive", name, *field))
	}
	if *field == 0 {
		*field = value
	}
}

// limits are what a frame and a message may be; the same on the way in and on the way out.
type limits struct {
	frame, parts, message int
}

func (o Options) limits() limits {
	return limits{frame: o.MaxFrame, parts: o.MaxParts, message: o.MaxMessage}
}

// commandLimits are for peers that have nothing to say but commands and subscriptions: they get no memory for more.
func (o Options) commandLimits() limits {
	size := max(o.MaxTopic+1, maxCommand)
	return limits{frame: size, parts: 1, message: size}
}

// sendable refuses what an honest receiver with our limits would refuse: better an error here than a lost connection.
func (l limits) sendable(msgs []Message) error {
	for _, m := range msgs {
		if len(m) == 0 || len(m) > l.parts {
			return fmt.Errorf("%w: it has %d parts, 1 to %d are allowed (MaxParts)", ErrUnsendable, len(m), l.parts)
		}
		total := 0
		for i, part := range m {
			if len(part) > l.frame {
				return fmt.Errorf("%w: part %d has %d bytes, at most %d are allowed (MaxFrame)", ErrUnsendable, i, len(part), l.frame)
			}
			total += len(part)
		}
		if total > l.message {
			return fmt.Errorf("%w: it has %d bytes, at most %d are allowed (MaxMessage)", ErrUnsendable, total, l.message)
		}
	}
	return nil
}
