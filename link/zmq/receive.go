package zmq

import (
	"posta.dev/posta/link"
	"posta.dev/posta/zmqx"
)

// read starts the goroutine of one receiving socket. It ends when the socket is closed.
func (t *Transport) read(from <-chan []zmqx.Received, decode func([]zmqx.Received) []link.Event) {
	t.wg.Add(1)
	go func() {
		defer t.wg.Done()
		for batch := range from {
			for _, e := range decode(batch) {
				t.tell(e)
			}
		}
	}()
}

// frames decodes messages that are frames behind skip parts of topic.
func (t *Transport) frames(skip int) func([]zmqx.Received) []link.Event {
	names := &link.Interner{}
	return func(batch []zmqx.Received) []link.Event {
		frames := make([]link.Frame, 0, len(batch))
		for _, r := range batch {
			if len(r.Msg) != skip+2 {
				t.bad.Add(1)
				continue
			}
			f, err := link.DecodeFrame(names, r.Msg[skip], r.Msg[skip+1])
			if err != nil {
				t.refuse(err)
				continue
			}
			frames = append(frames, f)
		}
		if len(frames) == 0 {
			return nil
		}
		return []link.Event{{Frames: frames}}
	}
}

// Recycle implements link.Recycler. It does not matter which socket received a payload: the memory is ours.
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

func (t *Transport) refuse(err error) {
	if t.bad.Add(1) == 1 {
		t.cfg.Log.Warn("a message that no node sends was thrown away; more are counted in silence", "node", t.cfg.Node.ID, "err", err)
	}
}
