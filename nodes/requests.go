package nodes

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
	"posta.dev/posta/zmqx"
)

// gather adds the requests that other clients have sent meanwhile, up to the number that can be prepared in parallel.
func (x *node) gather(batch []zmqx.Received) []zmqx.Received {
	for len(batch) < runtime.GOMAXPROCS(0) {
		select {
		case more, open := <-x.router.C():
			if !open {
				return batch
			}
			batch = append(batch, more...)
		default:
			return batch
		}
	}
	return batch
}

// requests hands clients' requests to the shell.
func (x *node) requests(batch []zmqx.Received) {
	batch = x.gather(batch)
	requests := x.wellFormed(batch)
	x.metrics.asked(requests, time.Now())
	x.prepare(requests)
	x.shell.Requests(time.Now(), requests)
}

// isRequest tells clients from strangers (zmqx.Options.Known): a peer that has sent a request counts as a client.
func isRequest(m zmqx.Message) bool {
	if len(m) != 2 || len(m[0]) > 0 {
		return false
	}
	_, err := protocol.DecodeRequest(m[1])
	return err == nil
}

// wellFormed returns the requests of a batch, and answers any other message with a refusal. A REQ socket's message is an empty part and a
// body.
func (x *node) wellFormed(batch []zmqx.Received) []role.Request {
	requests := make([]role.Request, 0, len(batch))
	for _, r := range batch {
		if len(r.Msg) == 2 && len(r.Msg[0]) == 0 {
			requests = append(requests, role.Request{From: role.Peer(r.Peer), Client: asker(r.From, x.clientKeys() != nil), Body: r.Msg[1]})
			continue
		}
		if r.TooLarge > 0 {
			x.reply(core.Reply{To: role.Peer(r.Peer), Body: x.tooLarge("the request", int64(r.TooLarge))})
			continue
		}
		refusal := protocol.Refuse(protocol.ErrBadRequest, fmt.Sprintf(
			"a message of %d parts came; a REQ socket sends an empty one and the request", len(r.Msg)))
		x.reply(core.Reply{To: role.Peer(r.Peer), Body: refusal.Append(nil)})
	}
	return requests
}

// asker returns the identity behind a connection, from the name that its peer has proven. On a socket without keys it
// is the local operator. A name that is not an identity may do nothing.
func asker(name string, keyed bool) security.Identity {
	if name == "" && !keyed {
		return role.LocalOperator
	}
	id, err := security.ParseIdentity(name)
	if err != nil {
		return security.Identity{}
	}
	return id
}

// prepare parses the chunks of a batch on all cores. With a single chunk or core there is nothing to gain.
func (x *node) prepare(requests []role.Request) {
	if len(requests) < 2 || runtime.GOMAXPROCS(0) < 2 {
		return
	}
	sideBySide(x.shell.Prepare(requests))
}

// sideBySide runs works on all cores and returns when all are done. Each goroutine, the caller's included, takes the next work that has not
// been begun. So the caller never waits for a goroutine that has no core yet: on a busy machine that would take milliseconds each time.
func sideBySide(works []func()) {
	var begun atomic.Int64
	var undone sync.WaitGroup
	undone.Add(len(works))
	do := func() {
		for i := begun.Add(1) - 1; i < int64(len(works)); i = begun.Add(1) - 1 {
			works[i]()
			undone.Done()
		}
	}
	for range min(len(works), runtime.GOMAXPROCS(0)) - 1 {
		go do()
	}
	do()
	undone.Wait()
}

// reply sends an answer. If the answer is too large, reply sends a refusal that says so (R15): otherwise the client would wait for ever.
func (x *node) reply(r core.Reply) {
	x.metrics.answered(r.To)
	err := x.router.Send(zmqx.PeerID(r.To), zmqx.Message{nil, r.Body})
	if errors.Is(err, zmqx.ErrUnsendable) {
		// If the client has gone, it asks again over another connection.
		_ = x.router.Send(zmqx.PeerID(r.To), zmqx.Message{nil, x.tooLarge("the answer", int64(len(r.Body)))})
	}
}

func (x *node) tooLarge(what string, size int64) []byte {
	refusal := protocol.Refuse(protocol.ErrTooLarge, fmt.Sprintf(
		"%s has %d bytes, and node %s lets %d pass (limits.frame): send smaller chunks, or raise limits.frame in the topology", what, size,
		x.node.ID, x.cfg.Topology.Limits.Frame))
	return refusal.Append(nil)
}
