package nodes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"posta.dev/posta/link"
	"posta.dev/posta/zmqx"
)

// Direct connects clients within this process to a node that holds all roles. It takes the place of all the node's sockets: clients call
// Ask, and there are no other nodes. Such a node writes nothing to its data directory but its log, whose file system may be in memory, and
// leaves no notes for a later process (N9).
//
// It outlives the node's starts: between two of them Ask waits.
type Direct struct {
	mu    sync.Mutex // guards what follows
	now   *directSocket
	began chan struct{} // closed when there is a socket; replaced when it is closed
	last  zmqx.PeerID
}

// NewDirect returns a connection to the node whose Config has it.
func NewDirect() *Direct { return &Direct{began: make(chan struct{})} }

// errRestarted is the error of a request that the node had not answered when it ended.
var errRestarted = errors.New("the node within this process has ended, and starts again")

// Ask sends a request to the node, and returns the answer. Neither side keeps memory of the other.
func (d *Direct) Ask(ctx context.Context, request []byte) ([]byte, error) {
	s, id, err := d.socket(ctx)
	if err != nil {
		return nil, err
	}
	answer := s.expect(id)
	defer s.forget(id)
	asked := zmqx.Received{Peer: id, Msg: zmqx.Message{nil, s.copyOf(request)}}
	if len(request) > s.frame {
		asked.Msg, asked.TooLarge = nil, uint64(len(request))
	}
	select {
	case s.requests <- []zmqx.Received{asked}:
	case <-s.end:
		return nil, errRestarted
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case body := <-answer:
		return body, nil
	case <-s.end:
		return nil, errRestarted
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// socket waits until the node takes requests, and returns the number of one. Each request has its own: the late answer to a request that
// was given up finds nobody.
func (d *Direct) socket(ctx context.Context) (*directSocket, zmqx.PeerID, error) {
	for {
		d.mu.Lock()
		s, began := d.now, d.began
		if d.last++; s != nil {
			defer d.mu.Unlock()
			return s, d.last, nil
		}
		d.mu.Unlock()
		select {
		case <-began:
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
	}
}

// open lets clients ask a node that takes requests of up to frame bytes. It has to be closed before it is opened again.
func (d *Direct) open(frame int) *directSocket {
	s := &directSocket{of: d, frame: frame, requests: make(chan []zmqx.Received), end: make(chan struct{}),
		spare: make(chan []byte, spareRequests), waiting: map[zmqx.PeerID]chan<- []byte{}}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = s
	close(d.began)
	return s
}

// directSocket is what one start of the node has in place of a Router.
type directSocket struct {
	of       *Direct
	frame    int // the largest message, in bytes
	requests chan []zmqx.Received
	end      chan struct{} // closed when the node ends
	spare    chan []byte   // memory of requests that the node has released

	mu      sync.Mutex // guards waiting
	waiting map[zmqx.PeerID]chan<- []byte
}

func (s *directSocket) expect(id zmqx.PeerID) <-chan []byte {
	answer := make(chan []byte, 1) // so that the node never waits for a client
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[id] = answer
	return answer
}

func (s *directSocket) forget(id zmqx.PeerID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, id)
}

// C implements clientSocket.
func (s *directSocket) C() <-chan []zmqx.Received { return s.requests }

// Send implements clientSocket.
func (s *directSocket) Send(to zmqx.PeerID, msgs ...zmqx.Message) error {
	for _, m := range msgs {
		body := m[len(m)-1]
		if len(body) > s.frame {
			return fmt.Errorf("%w: %d bytes, at most %d are allowed", zmqx.ErrUnsendable, len(body), s.frame)
		}
		s.mu.Lock()
		answer := s.waiting[to]
		delete(s.waiting, to) // a request has one answer
		s.mu.Unlock()
		if answer != nil {
			answer <- bytes.Clone(body)
		}
	}
	return nil
}

const (
	// spareRequests is how many requests' memory waits for further ones: that of a chunk for each of the readers of a client, and one.
	spareRequests = 4
	// leastSpare is how large a request is whose memory is used again. New memory for a chunk of rows costs more than to copy it.
	leastSpare = 16 << 10
)

// copyOf copies a request, into memory that the node has released if there is enough.
func (s *directSocket) copyOf(request []byte) []byte {
	if len(request) < leastSpare {
		return bytes.Clone(request)
	}
	select {
	case p := <-s.spare:
		if cap(p) >= len(request) {
			return append(p[:0], request...)
		}
	default:
	}
	return append(make([]byte, 0, len(request)+len(request)/8), request...) // the next chunk is about as large
}

// Recycle implements clientSocket.
func (s *directSocket) Recycle(batch []zmqx.Received) {
	for _, r := range batch {
		for _, p := range r.Msg {
			if cap(p) < leastSpare {
				continue
			}
			select {
			case s.spare <- p:
			default:
			}
		}
	}
}

// Close implements clientSocket.
func (s *directSocket) Close() error {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.now, s.of.began = nil, make(chan struct{})
	close(s.end)
	return nil
}

// noLinks is the transport of a node that is connected by a Direct.
type noLinks struct{}

func (noLinks) Send(string, link.NodeID, []link.Frame) int { return 0 }
func (noLinks) Acks([]link.Ack)                            {}
func (noLinks) Heartbeat([]byte, []byte)                   {}
func (noLinks) Events() <-chan link.Event                  { return nil }
func (noLinks) Close() error                               { return nil }
