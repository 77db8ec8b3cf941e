package nodes

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
	"posta.dev/posta/zmqx"
)

// gather takes the requests that other clients have sent meanwhile, as many as can be prepared side by side.
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
	x.prepare(requests)
	x.shell.Requests(time.Now(), requests)
}

// isRequest tells clients from strangers (zmqx.Options.Known): who has sent a request is believed.
func isRequest(m zmqx.Message) bool {
	if len(m) != 2 || len(m[0]) > 0 {
		return false
	}
	_, err := protocol.DecodeRequest(m[1])
	return err == nil
}

// wellFormed returns the requests of a batch, and refuses what is none. A REQ socket's message is an empty part and a body.
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

// asker is who sends requests over a connection whose peer has proven a name: the local operator where the socket asks for none. What is no
// identity may do nothing.
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

// prepare parses the chunks of a batch on as many cores as there are. With a single chunk or core there is nothing to gain.
func (x *node) prepare(requests []role.Request) {
	if len(requests) < 2 || runtime.GOMAXPROCS(0) < 2 {
		return
	}
	works := x.shell.Prepare(requests)
	if len(works) == 0 {
		return
	}
	var wg sync.WaitGroup
	for _, w := range works[1:] {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w()
		}()
	}
	works[0]()
	wg.Wait()
}

// reply sends an answer. One that is too large becomes an answer that says so (R15): the client would wait for the other for ever.
func (x *node) reply(r core.Reply) {
	err := x.router.Send(zmqx.PeerID(r.To), zmqx.Message{nil, r.Body})
	if errors.Is(err, zmqx.ErrUnsendable) {
		// The client may have gone; then it asks again over another connection.
		_ = x.router.Send(zmqx.PeerID(r.To), zmqx.Message{nil, x.tooLarge("the answer", int64(len(r.Body)))})
	}
}

func (x *node) tooLarge(what string, size int64) []byte {
	refusal := protocol.Refuse(protocol.ErrTooLarge, fmt.Sprintf(
		"%s has %d bytes, and node %s lets %d pass (limits.frame): send smaller chunks, or raise limits.frame in the topology", what, size,
		x.node.ID, x.cfg.Topology.Limits.Frame))
	return refusal.Append(nil)
}
