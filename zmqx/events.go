package zmqx

// EventKind says what happened to a peer.
type EventKind int

const (
	// Connected: a handshake has succeeded; messages flow from now on.
	Connected EventKind = iota + 1
	// Disconnected: the connection is over. Err says why, Dropped what was lost with it.
	Disconnected
	// Unreachable: an endpoint given to Connect could not be reached. Reported once per outage, and once more if ErrRefused
	// follows: a peer's refusal may get lost with its connection. Attempts continue.
	Unreachable
)

func (k EventKind) String() string {
	if k < Connected || k > Unreachable {
		return "unknown"
	}
	return [...]string{Connected: "connected", Disconnected: "disconnected", Unreachable: "unreachable"}[k]
}

// Event is passed to Options.OnEvent. For one endpoint of Connect, Disconnected comes before the next Connected. A message may
// be received a little before the Connected event of its peer, and none is received after its Disconnected was sent except
// those already handed over to the receiving side.
type Event struct {
	Kind     EventKind
	Peer     PeerID // 0 for Unreachable
	From     string // the name that the peer has proven (Options.TLS); "" on plain sockets and for Unreachable
	Endpoint int
	Remote   string
	Err      error
	Dropped  int // messages queued for the peer that were not written, or perhaps only in part
}

// maxEvents is how many events may wait for a slow OnEvent. Beyond it, the goroutine of the peer that comes or goes waits. An
// event must not get lost, because a link says hello on it. Events must not pile up, because strangers can cause them.
const maxEvents = 256

// notifier calls OnEvent in order from one goroutine. A nil notifier, for a socket without OnEvent, does nothing.
type notifier struct {
	queue chan Event
	done  chan struct{} // closed when the goroutine has ended
}

func newNotifier(fn func(Event)) *notifier {
	if fn == nil {
		return nil
	}
	n := &notifier{queue: make(chan Event, maxEvents), done: make(chan struct{})}
	go func() {
		defer close(n.done)
		for e := range n.queue {
			fn(e)
		}
	}()
	return n
}

func (n *notifier) notify(e Event) {
	if n != nil {
		n.queue <- e
	}
}

// close waits until OnEvent has heard everything. Nobody may call notify any more.
func (n *notifier) close() {
	if n != nil {
		close(n.queue)
		<-n.done
	}
}
