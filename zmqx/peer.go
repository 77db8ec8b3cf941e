package zmqx

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// peer is one connection after its handshake. Two goroutines serve it, the reader and the writer.
type peer struct {
	// Set by admit and the role's setUp, and never changed.
	id       PeerID
	endpoint int    // which Connect or Listen it came by
	remote   string // for people
	proof    proof  // what it has proven of itself, as far as that was required
	conn     net.Conn
	in       *frameReader   // the handshake's goroutine, then the reader owns it
	out      *frameWriter   // the writer owns it
	queue    *sendQueue     // any goroutine puts, the writer takes; a PUSH gives its one queue to each peer in turn
	topics   *subscriptions // what the subscriber wants; PUB only, else nil
	told     bool           // it knows the subscriptions; SUB only, whose mu guards it

	known atomic.Bool   // set once Options.Known has returned true
	heard atomic.Int64  // when the reader last got a batch, in nanoseconds of the clock; 0 for never
	gone  chan struct{} // closed when it is no longer among the socket's peers
	quit  chan struct{} // closed by the first fail, together with conn: both loops then end
	once  sync.Once     // of fail
	cause error         // why the peer ended; valid once quit is closed
}

// fail ends the peer. The first cause counts: the errors that follow it are its consequences.
func (p *peer) fail(cause error) {
	p.once.Do(func() {
		p.cause = cause
		close(p.quit)
		p.conn.Close()
	})
}

// quieter reports whether p was silent for longer than o; of two that never spoke it is the one that came first. A stranger is quieter than
// any known peer.
func (p *peer) quieter(o *peer) bool {
	if a, b := p.known.Load(), o.known.Load(); a != b {
		return b
	}
	a, b := p.heard.Load(), o.heard.Load()
	return a < b || a == b && p.id < o.id
}

// readLoop delivers batches until the connection or deliver fails.
func (p *peer) readLoop(known func(Message) bool, deliver func(*peer, []Received) error) error {
	share := p.in.share
	defer share.end()
	for {
		batch, err := p.in.next()
		if err != nil {
			return err
		}
		share.complete()
		p.heard.Store(time.Now().UnixNano())
		if !p.known.Load() && slices.ContainsFunc(batch, func(r Received) bool { return r.Msg != nil && known(r.Msg) }) {
			p.known.Store(true)
		}
		if err := deliver(p, batch); err != nil {
			return err
		}
		share.giveBack()
	}
}

// writeLoop writes whatever is queued until the peer ends or a write fails.
func (p *peer) writeLoop() error {
	for {
		msgs, commands := p.queue.take(p.quit)
		if len(msgs)+len(commands) == 0 {
			return nil
		}
		for _, c := range commands {
			p.out.addRaw(c)
		}
		if err := p.writeAll(msgs); err != nil {
			return err
		}
		p.queue.giveBack(msgs)
	}
}

// writeAll writes msgs in as few writes as possible and releases their room as each write is done.
func (p *peer) writeAll(msgs []Message) error {
	from, bytes := 0, 0
	for i, m := range msgs {
		bytes += m.Size()
		if p.out.add(m) && i < len(msgs)-1 {
			continue
		}
		if err := p.out.flush(); err != nil {
			return err
		}
		p.queue.release(i+1-from, bytes)
		clear(msgs[from : i+1])
		from, bytes = i+1, 0
		for _, c := range p.queue.takeCommands() {
			p.out.addRaw(c)
		}
	}
	return p.out.flush()
}

// onCommand answers a PING (ZMTP 3.1 §2.6: TTL of two bytes, then up to 16 bytes of context that the PONG repeats).
// libzmq sends PINGs only when its user has set a heartbeat. Everything else is for versions we did not announce.
func (p *peer) onCommand(body []byte) {
	const name, ttl, maxContext = "\x04PING", 2, 16
	if len(body) < len(name)+ttl || string(body[:len(name)]) != name {
		return
	}
	context := body[len(name)+ttl:]
	if len(context) > maxContext {
		return
	}
	frame := appendHeader(nil, flagCommand, len(name)+len(context))
	frame = append(frame, "\x04PONG"...)
	p.queue.putCommand(append(frame, context...))
}
