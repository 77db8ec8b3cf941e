package nodes

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/zmqx"
)

// gather takes what other clients have said meanwhile, as much as can be worked at side by side.
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

// requests hands clients' requests to the core. A REQ socket's message is an empty part and a body.
func (x *node) requests(batch []zmqx.Received) {
	batch = x.gather(batch)
	x.prepare(batch)
	defer x.core.DiscardPrepared()
	now := time.Now()
	x.flush.asked = now
	for _, r := range batch {
		if !wellFormed(r) {
			refusal := protocol.Refuse(protocol.ErrBadRequest, fmt.Sprintf(
				"a message of %d parts came; a REQ socket sends an empty one and the request", len(r.Msg)))
			x.reply(core.Reply{To: role.Peer(r.Peer), Body: refusal.Append(nil)})
			continue
		}
		if !x.core.Request(now, role.Peer(r.Peer), r.Msg[1]) {
			refusal := protocol.Refuse(protocol.ErrWrongNode, "this node has no results; ask an output")
			refusal.Outputs = x.cfg.Topology.Outputs()
			x.reply(core.Reply{To: role.Peer(r.Peer), Body: refusal.Append(nil)})
		}
	}
}

func wellFormed(r zmqx.Received) bool { return len(r.Msg) == 2 && len(r.Msg[0]) == 0 }

// prepare parses the chunks of a batch on as many cores as there are. With a single one there is nothing to gain.
func (x *node) prepare(batch []zmqx.Received) {
	if len(batch) < 2 || runtime.GOMAXPROCS(0) < 2 {
		return
	}
	bodies := make([][]byte, 0, len(batch))
	for _, r := range batch {
		if wellFormed(r) {
			bodies = append(bodies, r.Msg[1])
		}
	}
	works := x.core.Prepare(bodies)
	if len(works) == 0 {
		return
	}
	var beside sync.WaitGroup
	for _, w := range works[1:] {
		beside.Add(1)
		go func() {
			defer beside.Done()
			w()
		}()
	}
	works[0]()
	beside.Wait()
}

func (x *node) reply(r core.Reply) {
	// The client may have gone; then it asks again over another connection.
	_ = x.router.Send(zmqx.PeerID(r.To), zmqx.Message{nil, r.Body})
}
