package nats

import (
	"bytes"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/natstest"
)

const flowEdge = "joiner-aggregator-all"

// flow sends frames from joiner-1 to aggregator-1 without an end, as a link does: from the receiver's hwm after each connection, and again
// what the receiver asks for. It stops with the test.
func flow(t *testing.T, sender, receiver *Transport, size int) (hwm *atomic.Uint64) {
	t.Helper()
	hwm = &atomic.Uint64{}
	me := link.Identity{LogID: link.LogID{1}, Incarnation: 1, Life: 7}
	payload := bytes.Repeat([]byte("posta"), size/5)
	stop, sent, received := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sent)
		const window = 32
		next, acked := link.Seq(1), link.Seq(0)
		up := false
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			for up && next <= acked+window {
				f := link.Frame{Edge: flowEdge, From: "joiner-1", ID: me, Life: 7, Seq: next, Kind: link.Data, Payload: payload}
				if sender.Send(flowEdge, "aggregator-1", []link.Frame{f}) == 0 {
					break
				}
				next++
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			case e := <-sender.Events():
				for _, a := range e.Acks {
					acked = max(acked, a.Hwm)
					if a.Resend {
						next = acked + 1
					}
				}
				if e.Connected && e.Node == "aggregator-1" {
					up, next = true, acked+1
				}
			}
		}
	}()
	go func() {
		defer close(received)
		for {
			select {
			case <-stop:
				return
			case e := <-receiver.Events():
				ack := link.Ack{Edge: flowEdge, To: "joiner-1", Receiver: "aggregator-1", Log: me.LogID, Echo: me.Life}
				for _, f := range e.Frames {
					switch {
					case f.Edge != flowEdge || f.From != "joiner-1":
					case uint64(f.Seq) == hwm.Load()+1:
						hwm.Add(1)
					case uint64(f.Seq) > hwm.Load():
						ack.Resend = true
					}
				}
				ack.Hwm = link.Seq(hwm.Load())
				receiver.Acks([]link.Ack{ack})
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-sent; <-received })
	return hwm
}

// TestTrouble_TheServersDirectoryIsRemoved: the directory is removed while the server runs. The server continues without a message until it
// needs a new file, and refuses everything from then on, so the link once stood still for good. Now its stream is created again, and
// meanwhile the trouble is reported.
func TestTrouble_TheServersDirectoryIsRemoved(t *testing.T) {
	server := natstest.Start(t)
	sender, log := open(t, server.URL(), "joiner-1")
	receiver, _ := open(t, server.URL(), "aggregator-1")
	hwm := flow(t, sender, receiver, 200_000)
	await.Until(t, "frames arrive", func() bool { return hwm.Load() > 100 })
	// The server writes meanwhile, so this may take more than one attempt.
	await.Until(t, "the directory is gone", func() bool { return os.RemoveAll(server.Dir()) == nil })
	before := hwm.Load()
	await.Until(t, "the trouble is told", func() bool { return strings.Contains(sender.Trouble(), "the server's directory") })
	await.Until(t, "the link continues", func() bool { return hwm.Load() > before+500 })
	await.Until(t, "the trouble is over", func() bool { return sender.Trouble() == "" && receiver.Trouble() == "" })
	if !strings.Contains(log.String(), "the server cannot write a message to its disk") {
		t.Errorf("the log says\n%s", log.String())
	}
}
