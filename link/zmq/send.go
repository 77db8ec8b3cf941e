package zmq

import (
	"errors"

	"posta.dev/posta/link"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/zmqx"
)

// Send implements link.Transport.
func (t *Transport) Send(edge string, to link.NodeID, frames []link.Frame) int {
	if t.pubEdges[edge] {
		return t.publish(edge, frames)
	}
	p := t.pushes[linkKey{edge, to}]
	if p == nil {
		return 0
	}
	if err := p.TrySend(messages(nil, frames)...); err == nil {
		return len(frames)
	}
	// Not all fitted: send one by one to find how many do.
	for i := range frames {
		if err := p.TrySend(messages(nil, frames[i:i+1])...); err != nil {
			return i
		}
	}
	return len(frames)
}

func (t *Transport) publish(edge string, frames []link.Frame) int {
	if err := t.broadcast.Send(messages([]byte(broadcastTopic(edge)), frames)...); err != nil {
		return 0
	}
	return len(frames)
}

// messages encodes frames. Their headers share one allocation.
func messages(topic []byte, frames []link.Frame) []zmqx.Message {
	msgs := make([]zmqx.Message, len(frames))
	heads := make([]byte, 0, len(frames)*headerGuess)
	parts := make([][]byte, 0, 3*len(frames))
	for i := range frames {
		start, first := len(heads), len(parts)
		heads = frames[i].AppendHeader(heads)
		if topic != nil {
			parts = append(parts, topic)
		}
		parts = append(parts, heads[start:len(heads):len(heads)], frames[i].Payload)
		msgs[i] = parts[first:len(parts):len(parts)]
	}
	return msgs
}

// headerGuess is how many bytes are allocated for a frame's header; a longer one grows.
const headerGuess = 112

// Acks implements link.Transport.
func (t *Transport) Acks(acks []link.Ack) { t.Control.SendAcks(acks) }

// asked passes the question for a session's trace to the loop. It does not wait: while the loop is busy it drops the question, and the one
// who asked repeats it.
func (t *Transport) asked(id session.ID) {
	select {
	case t.events <- link.Event{Asked: &id}:
	default:
	}
}

// Close implements link.Transport.
func (t *Transport) Close() error {
	select {
	case <-t.stop:
		return nil
	default:
	}
	close(t.stop)
	t.unwatch()
	var closers []func() error
	for _, p := range t.pushes {
		closers = append(closers, p.Close)
	}
	if t.broadcast != nil {
		closers = append(closers, t.broadcast.Close)
	}
	if t.Control != nil {
		closers = append(closers, t.Control.Close)
	}
	for _, s := range t.subs {
		closers = append(closers, s.Close)
	}
	if t.pull != nil {
		closers = append(closers, t.pull.Close)
	}
	errs := make(chan error, len(closers))
	for _, c := range closers {
		go func() { errs <- c() }()
	}
	var all []error
	for range closers {
		all = append(all, <-errs)
	}
	t.wg.Wait()
	close(t.events)
	return errors.Join(all...)
}
