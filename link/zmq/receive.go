package zmq

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/security"
	"posta.dev/posta/zmqx"
)

// read starts the goroutine of one receiving socket. It ends when the socket is closed.
func (t *Transport) read(from <-chan []zmqx.Received, decode func([]zmqx.Received) []link.Event) {
	t.wg.Go(func() {
		for batch := range from {
			for _, e := range decode(batch) {
				t.tell(e)
			}
		}
	})
}

// frames decodes messages that have skip parts of topic before a frame. If nodes have keys, mayBe returns an error if
// the message's sender may not send the frame (S3).
func (t *Transport) frames(skip int, mayBe func(*zmqx.Received, *link.Frame) error) func([]zmqx.Received) []link.Event {
	names := &link.Interner{}
	return func(batch []zmqx.Received) []link.Event {
		frames := make([]link.Frame, 0, len(batch))
		for i := range batch {
			r := &batch[i]
			if len(r.Msg) != skip+2 {
				t.bad.Add(errNoFrame)
				continue
			}
			f, err := link.DecodeFrame(names, r.Msg[skip], r.Msg[skip+1])
			if err == nil && t.cfg.Keys != nil {
				err = mayBe(r, &f)
			}
			if err != nil {
				t.bad.Add(err)
				continue
			}
			frames = append(frames, f)
		}
		if len(frames) == 0 {
			return nil
		}
		return []link.Event{{Frames: frames, At: time.Now()}}
	}
}

var errNoFrame = errors.New("it is not the header and the payload of a frame")

// pushedBy checks that a frame names the node that has pushed it, and an edge on which that node is a sender.
func pushedBy(senders map[linkKey]bool, r *zmqx.Received, f *link.Frame) error {
	name, ok := strings.CutPrefix(r.From, string(security.Node)+"/")
	if !ok || name != string(f.From) || !senders[linkKey{f.Edge, f.From}] {
		return fmt.Errorf("%s pushed a frame of %q on edge %q", r.From, f.From, f.Edge)
	}
	return nil
}

// Recycle implements link.Recycler. The pull socket takes all payloads back, even those that another socket received: this process owns
// their memory.
func (t *Transport) Recycle(payloads [][]byte) {
	if t.pull == nil {
		return
	}
	batch := make([]zmqx.Received, len(payloads))
	for i := range payloads {
		batch[i].Msg = payloads[i : i+1]
	}
	t.pull.Recycle(batch)
}
